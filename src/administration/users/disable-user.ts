/** DisableUser and EnableUser. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { user } from './parameters.ts';
import { toUserView, userOutput, userRow } from './user-view.ts';

export const disableUser = defineAction({
  name: 'DisableUser',
  title: 'Disable a user',
  description:
    'From now on the keys of a user open nothing; calls in progress, SSH connections, tunnels and previews of theirs end. ' +
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
  description: 'Lets a disabled user in again, with the keys there were.',
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
