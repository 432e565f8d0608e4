/** Actions on identities at the identity provider. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import { text } from '../catalog/parameters/scalars.ts';
import type { OwnedIdentity } from '../model/access/identity.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';
import { user } from './owners.ts';

export const subject = text()
  .min(1)
  .max(limits.identity.subjectChars)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .describe('Subject: the id of the person at the identity provider, its claim sub.');

const identityOutput = z.looseObject({
  issuer: z.string(),
  subject: z.string(),
  user_id: z.string(),
  email: z.string(),
  linked_at: z.string(),
  /** Id of the admin who linked it; null: the person signed in. */
  linked_by: z.string().nullable(),
});

function toIdentityView({ identity, user }: OwnedIdentity): z.output<typeof identityOutput> {
  const { issuer, subject, userId, linkedAt, linkedBy } = identity;
  const at = new Date(linkedAt).toISOString();
  return { issuer, subject, user_id: userId, email: user.email, linked_at: at, linked_by: linkedBy };
}

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

export const listIdentities = defineAction({
  name: 'ListIdentities',
  title: 'List identities',
  description:
    'Lists the people of the identity provider who have signed in, or were linked, with their users.',
  role: 'admin',
  command: 'identities list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only those of this user: user ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ identities: z.array(identityOutput), ...pageOutput }),
  async handler({ user, page, page_size: pageSize }, { services }) {
    const { identities, totalCount } = await services.identities.list(user, { page, pageSize });
    return {
      identities: identities.map(toIdentityView),
      ...pageOf(totalCount, { page, page_size: pageSize }),
    };
  },
  rows: ({ identities }) =>
    identities.map(({ email, user_id, subject, issuer, linked_at }) => ({
      ...{ email, user: user_id, subject, issuer, linked: linked_at },
    })),
});
