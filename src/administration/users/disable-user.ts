/** DisableUser and EnableUser. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { user } from './parameters.ts';
import { toUserView, userOutput, userRow } from './user-view.ts';

export const disableUser = defineAction({
  name: 'DisableUser',
  title: 'Disable a user',
  description:
    "Disables a user's keys, and ends their calls in progress, SSH connections, tunnels and previews. " +
    'The sandboxes stay as they are. The last enabled admin cannot be disabled.',
  role: 'admin',
  command: 'users disable',
  argument: 'user',
  input: z.strictObject({ user }),
  output: userOutput,
  async handler({ user }, { services }) {
    return toUserView(await services.users.disable(user));
  },
  rows: (user) => [userRow(user)],
});

export const enableUser = defineAction({
  name: 'EnableUser',
  title: 'Enable a user',
  description: 'Enables a disabled user again, with their earlier keys.',
  role: 'admin',
  command: 'users enable',
  argument: 'user',
  input: z.strictObject({ user }),
  output: userOutput,
  async handler({ user }, { services }) {
    return toUserView(await services.users.enable(user));
  },
  rows: (user) => [userRow(user)],
});
