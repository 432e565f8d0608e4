/** RevokeOtherSignIns: signs all browsers of a user out but the one that asks. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';

export const revokeOtherSignIns = defineAction({
  name: 'RevokeOtherSignIns',
  title: 'Revoke all other sign-ins',
  description:
    'Signs all your browsers out but the one that asks or, for an admin, all of another user’s. Ends what they have open at once.',
  role: 'member',
  command: 'sign-ins revoke-others',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User ID or email (default: yourself).'),
  }),
  output: z.looseObject({ user_id: z.string(), revoked: z.int() }),
  async handler({ user }, { services, caller }) {
    const { id } = await services.keys.ownerOf(caller, user ?? caller.id);
    return { user_id: id, revoked: await services.signIns.revokeOthers(caller, id) };
  },
});
