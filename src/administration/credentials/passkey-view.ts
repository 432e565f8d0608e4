/** View of a passkey in actions: nothing that verifies or finds it. */
import { z } from 'zod';
import type { Passkey } from '../../model/access/passkeys.ts';

export const passkeyOutput = z.looseObject({
  passkey_id: z.string(),
  user_id: z.string(),
  name: z.string(),
  /** Host name of the page that it opens. */
  works_at: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
});

export function toPasskeyView(passkey: Passkey): z.output<typeof passkeyOutput> {
  const { id, userId, name, rpId, createdAt, lastUsedAt } = passkey;
  return {
    ...{ passkey_id: id, user_id: userId, name, works_at: rpId },
    created_at: new Date(createdAt).toISOString(),
    last_used_at: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
