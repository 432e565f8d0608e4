/** CreateSignInLink: makes a link with which a browser signs in, once. */
import { z } from 'zod';
import { isNarrowed } from '../../model/access/scopes.ts';
import { SandhavenError } from '../../model/errors.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';

export const createSignInLink = defineAction({
  name: 'CreateSignInLink',
  title: 'Create a sign-in link',
  description:
    'Makes a link with which a browser signs in as you. As an admin, for another user: the first way in of one who never ' +
    'came in or, where the operator lets admins read inside, of anybody. It works once, within 15 minutes.',
  role: 'member',
  command: 'sign-ins link',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User who signs in: user ID or email (default: yourself).'),
  }),
  output: z.looseObject({ url: z.string(), email: z.string(), expires_at: z.string() }),
  async handler({ user }, { services, caller }) {
    // The browser that uses it may do all that its user may.
    if (isNarrowed(caller)) throw tooNarrow();
    const account = await services.keys.ownerOf(caller, user ?? caller.id);
    const { url, expiresAt } = await services.signIns.createLink(
      account.id,
      services.keys.makerOf(caller, account),
    );
    return { url, email: account.email, expires_at: new Date(expiresAt).toISOString() };
  },
});

function tooNarrow(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'A key with scopes cannot make a link, which has no limit.',
    {
      hint: 'Use a key without scopes, or sign in with this key itself.',
    },
  );
}
