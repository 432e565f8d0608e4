/** CreateUser: creates a user without a key. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { email, name, quotaParameters, role, toQuota } from './parameters.ts';
import { toUserView, userOutput, userRow } from './user-view.ts';

export const createUser = defineAction({
  name: 'CreateUser',
  title: 'Create a user',
  description: 'Creates a user without a key: CreateKey creates one.',
  role: 'admin',
  command: 'users create',
  input: z.strictObject({ name, email, role: role.default('member'), ...quotaParameters }),
  output: userOutput,
  async handler({ name, email, role, ...quota }, { services }) {
    return toUserView(await services.users.create({ name, email, role, quota: toQuota(quota) }));
  },
  rows: (user) => [userRow(user)],
});
