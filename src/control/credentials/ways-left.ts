/** Keeps users from locking themselves out: the last passkey or password goes only while a key is valid. */
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock, KeyStore, PasskeyStore, PasswordStore } from '../ports/index.ts';

export interface Ways {
  passkeys: Pick<PasskeyStore, 'listPasskeys'>;
  passwords: Pick<PasswordStore, 'passwordChangedAt'>;
  keys: Pick<KeyStore, 'countLive'>;
  /** true: the service takes passwords. */
  takesPasswords: boolean;
  clock: Clock;
}

/** Rejects with `failed_precondition` when `caller` would have no way in but a link. An admin may do that to others. */
export async function assertWayLeft(
  { passkeys, passwords, keys, takesPasswords, clock }: Ways,
  caller: Caller,
  { userId, without }: { userId: string; without: 'passkey' | 'password' },
): Promise<void> {
  if (caller.id !== userId) return;
  const others = (await passkeys.listPasskeys(userId)).length - (without === 'passkey' ? 1 : 0);
  if (others > 0 || (await keys.countLive(userId, clock.now())) > 0) return;
  const hasPassword = without === 'passkey' && (await passwords.passwordChangedAt(userId)) !== null;
  if (takesPasswords && hasPassword) return;
  throw new SandhavenError('failed_precondition', 'This is your last way in.', {
    hint: 'Add another passkey or create an API key first; or ask an admin to remove it.',
  });
}
