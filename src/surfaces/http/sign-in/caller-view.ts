/** The caller, as the routes of sign-in show it. */
import { isSignInId } from '../../../model/ids.ts';
import type { Caller } from '../../../model/user.ts';

export function viewOf({ id, name, email, role, keyId, keyExpiresAt, scopes }: Caller) {
  return {
    ...{ user_id: id, name, email, role },
    scopes: scopes && [...scopes],
    sign_in_id: isSignInId(keyId) ? keyId : null,
    expires_at: keyExpiresAt === null ? null : new Date(keyExpiresAt).toISOString(),
  };
}
