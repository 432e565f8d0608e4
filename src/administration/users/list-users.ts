/** ListUsers: lists users with their use and the rest of their quota. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { defineAction } from '../action.ts';
import { toUserView, userOutput, userRow } from './user-view.ts';

export const listUsers = defineAction({
  name: 'ListUsers',
  title: 'List users',
  description:
    'Lists the users of the service with their usage and quota; for a member, only themselves. Sandboxes and disk ' +
    'are those of all sandboxes, cpu and memory those of sandboxes that run.',
  role: 'member',
  command: 'users list',
  input: z.strictObject({ ...pageParameters }),
  output: z.looseObject({ users: z.array(userOutput), ...pageOutput }),
  async handler(parameters, { services, caller }) {
    const { page, page_size: pageSize } = parameters;
    const { users, totalCount } = await services.users.list(caller, { page, pageSize });
    return { users: users.map(toUserView), ...pageOf(totalCount, parameters) };
  },
  rows: ({ users }) => users.map(userRow),
});
