/** RemovePassword: a password opens nothing any more. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';

export const removePassword = defineAction({
  name: 'RemovePassword',
  title: 'Remove a password',
  description: 'Removes your password or, for an admin, another user’s. Browsers that it signed in stay so.',
  role: 'member',
  command: 'passwords remove',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User ID or email (default: yourself).'),
  }),
  output: z.looseObject({ user_id: z.string(), removed: z.literal(true) }),
  async handler({ user }, { services, caller }) {
    return { user_id: await services.passwords.remove(caller, user), removed: true as const };
  },
});
