/** CreateUser: a user without a key. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { email, name, role } from './parameters.ts';
import { toUserView, userOutput } from './user-view.ts';

export const createUser = defineAction({
  name: 'CreateUser',
  title: 'Create a user',
  description: 'Adds a user, who has no key yet: CreateKey makes one.',
  role: 'admin',
  command: 'users create',
  input: z.strictObject({ name, email, role: role.default('member') }),
  output: userOutput,
  async handler(parameters, { services }) {
    return toUserView(await services.users.create(parameters));
  },
});
