/** View of a sign-in in actions: everything but its token. */
import { z } from 'zod';
import type { SignIn } from '../../model/access/sign-ins.ts';
import type { Caller } from '../../model/user.ts';

export const signInOutput = z.looseObject({
  sign_in_id: z.string(),
  user_id: z.string(),
  /** Key that it was opened with, and ends with; null: opened otherwise. */
  key_id: z.string().nullable(),
  /** Id of the admin who made the key, the link or the identity that it came by; null: the user's own. */
  made_by: z.string().nullable(),
  /** true: the caller's own. */
  current: z.boolean(),
  created_at: z.string(),
  /** Exact to the minute. */
  last_used_at: z.string(),
  expires_at: z.string(),
});

export function toSignInView(signIn: SignIn, caller: Pick<Caller, 'keyId'>): z.output<typeof signInOutput> {
  const { id, userId, keyId, madeBy, createdAt, lastUsedAt, expiresAt } = signIn;
  return {
    ...{ sign_in_id: id, user_id: userId, key_id: keyId, made_by: madeBy },
    current: id === caller.keyId,
    created_at: new Date(createdAt).toISOString(),
    last_used_at: new Date(lastUsedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}
