/** UpdateUser: changes name, email, role and quota. */
import { z } from 'zod';
import { present } from '../../catalog/present.ts';
import { invalidArgument } from '../../model/errors.ts';
import { defineAction } from '../action.ts';
import { email, name, quotaParameters, role, toQuota, user } from './parameters.ts';
import { toUserView, userOutput, userRow } from './user-view.ts';

export const updateUser = defineAction({
  name: 'UpdateUser',
  title: 'Update a user',
  description:
    'Changes the given fields of a user. A quota below the present use removes nothing: it refuses more. The last ' +
    'enabled admin stays one.',
  role: 'admin',
  command: 'users update',
  argument: 'user',
  input: z.strictObject({
    user,
    name: name.optional(),
    email: email.optional(),
    role: role.optional(),
    ...quotaParameters,
    default_quota: z
      .boolean()
      .default(false)
      .describe("Returns to the service's default quota, except for the kinds given here."),
  }),
  output: userOutput,
  async handler({ user, name, email, role, default_quota, ...given }, { services }) {
    const change = present({ name, email, role });
    const quota = toQuota(given);
    if (Object.keys({ ...change, ...quota }).length === 0 && !default_quota) {
      throw invalidArgument(
        'name',
        'Nothing to change: only the user was given.',
        'Give at least one field to change.',
      );
    }
    return toUserView(await services.users.update(user, { ...change, quota, defaultQuota: default_quota }));
  },
  rows: (user) => [userRow(user)],
});
