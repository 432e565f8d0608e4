/** View of a linked identity in actions, and its parameter. */
import { z } from 'zod';
import { text } from '../../catalog/parameters/text.ts';
import type { OwnedIdentity } from '../../model/access/identity.ts';
import { limits } from '../../model/limits.ts';

export const subject = text()
  .min(1)
  .max(limits.identity.subjectChars)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .describe('Subject: the id of the person at the identity provider, its claim sub.');

export const identityOutput = z.looseObject({
  issuer: z.string(),
  subject: z.string(),
  user_id: z.string(),
  email: z.string(),
  linked_at: z.string(),
  /** Id of the admin who linked it; null: the person signed in. */
  linked_by: z.string().nullable(),
});

export function toIdentityView({ identity, user }: OwnedIdentity): z.output<typeof identityOutput> {
  const { issuer, subject, userId, linkedAt, linkedBy } = identity;
  const at = new Date(linkedAt).toISOString();
  return { issuer, subject, user_id: userId, email: user.email, linked_at: at, linked_by: linkedBy };
}
