/** RevokeSignIn: signs a browser out. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { defineAction } from '../action.ts';
import { signInOutput, toSignInView } from './sign-in-view.ts';

export const revokeSignIn = defineAction({
  name: 'RevokeSignIn',
  title: 'Revoke a sign-in',
  description: 'Signs a browser out: one of yours or, for an admin, any. Ends what it has open at once.',
  role: 'member',
  command: 'sign-ins revoke',
  argument: 'sign_in',
  input: z.strictObject({
    sign_in: textWithoutNul().min(1).max(100).describe('ID of the sign-in, as ListSignIns shows it.'),
  }),
  output: signInOutput.extend({ revoked: z.literal(true) }),
  async handler({ sign_in: id }, { services, caller }) {
    const view = toSignInView(await services.signIns.revoke(caller, id), caller);
    return { ...view, revoked: true as const };
  },
});
