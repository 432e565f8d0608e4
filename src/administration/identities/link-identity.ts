/** LinkIdentity and UnlinkIdentity: an admin's word that a person of the identity provider is a user here. */
import { z } from 'zod';
import { text } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { identityOutput, subject, toIdentityView } from './identity-view.ts';

export const linkIdentity = defineAction({
  name: 'LinkIdentity',
  title: 'Link an identity',
  description:
    'Lets a person of the identity provider sign in as a user that is here already: one who never came in or, where the ' +
    'operator lets admins read inside, anybody. A user who is signed in links their own by signing in there.',
  role: 'admin',
  command: 'identities link',
  argument: 'user',
  input: z.strictObject({ user, subject }),
  output: identityOutput,
  async handler({ user, subject }, { services, caller }) {
    return toIdentityView(await services.identities.link(caller, user, subject));
  },
});

export const unlinkIdentity = defineAction({
  name: 'UnlinkIdentity',
  title: 'Unlink an identity',
  description:
    'Ends the link of a person of the identity provider with a user, and the sign-ins that came by it.',
  role: 'admin',
  command: 'identities unlink',
  argument: 'subject',
  input: z.strictObject({
    subject,
    issuer: text()
      .min(1)
      .max(limits.identity.issuerChars)
      .optional()
      .describe('Issuer, as ListIdentities shows it (default: that of the configured provider).'),
  }),
  output: identityOutput.extend({ unlinked: z.literal(true) }),
  async handler({ subject, issuer }, { services }) {
    return { ...toIdentityView(await services.identities.unlink(subject, issuer)), unlinked: true as const };
  },
});
