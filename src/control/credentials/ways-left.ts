/**
 * Keeps users from locking themselves out: the last passkey or password goes only while a key signs them in, or the identity
 * provider does.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock, IdentityStore, KeyStore, PasskeyStore, PasswordStore } from '../ports/index.ts';

export interface Ways {
  passkeys: Pick<PasskeyStore, 'listPasskeys'>;
  passwords: Pick<PasswordStore, 'passwordChangedAt'>;
  keys: Pick<KeyStore, 'countOpening'>;
  identities: Pick<IdentityStore, 'listIdentities'>;
  /** Of the identity provider; null without one. */
  issuer: string | null;
  /** true: the service takes passwords. */
  takesPasswords: boolean;
  clock: Clock;
}

/** Rejects with `failed_precondition` when `caller` would have no way in but a link. An admin may do that to others. */
export async function assertWayLeft(
  ways: Ways,
  caller: Caller,
  { userId, without }: { userId: string; without: 'passkey' | 'password' },
): Promise<void> {
  if (caller.id !== userId) return;
  const { passkeys, passwords, keys, takesPasswords, clock } = ways;
  const others = (await passkeys.listPasskeys(userId)).length - (without === 'passkey' ? 1 : 0);
  if (others > 0 || (await keys.countOpening(userId, clock.now())) > 0) return;
  if (await isKnownToProvider(ways, userId)) return;
  const hasPassword = without === 'passkey' && (await passwords.passwordChangedAt(userId)) !== null;
  if (takesPasswords && hasPassword) return;
  throw new SandhavenError('failed_precondition', 'This is your last way in.', {
    hint: 'Add another passkey or create an API key first; or ask an admin to remove it.',
  });
}

async function isKnownToProvider({ identities, issuer }: Ways, userId: string): Promise<boolean> {
  if (issuer === null) return false;
  const linked = await identities.listIdentities(userId, { page: 1, pageSize: limits.identity.perUser });
  return linked.identities.some((identity) => identity.issuer === issuer);
}
