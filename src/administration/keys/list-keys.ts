/** ListKeys: lists keys, never the keys themselves. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { keyOutput, keyRow, toKeyView } from './key-view.ts';

export const listKeys = defineAction({
  name: 'ListKeys',
  title: 'List API keys',
  description: 'Lists keys, newest first, with the minute of their last use: yours, or as an admin all.',
  role: 'member',
  command: 'keys list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only keys of this user: ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ keys: z.array(keyOutput), ...pageOutput }),
  async handler(parameters, { services, caller }) {
    const { user, page, page_size: pageSize } = parameters;
    const { keys, totalCount } = await services.keys.list(caller, user, { page, pageSize });
    return { keys: keys.map(toKeyView), ...pageOf(totalCount, parameters) };
  },
  rows: ({ keys }) => keys.map(keyRow),
});
