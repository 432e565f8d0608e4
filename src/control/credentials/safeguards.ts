/** Two rules on changes of passkeys and passwords: only a fresh sign-in changes them, and the last way in stays. */

import { SandhavenError } from '../../model/errors.ts';
import { isSignInId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { isNarrowed } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';
import type {
  Clock,
  IdentityStore,
  KeyStore,
  PasskeyStore,
  PasswordStore,
  SignInStore,
} from '../ports/index.ts';

export class FreshSignIns {
  readonly #store: Pick<SignInStore, 'findSignIn'>;
  readonly #clock: Clock;

  constructor(store: Pick<SignInStore, 'findSignIn'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Admits a browser that signed in a moment ago. Rejects keys, and sign-ins by a key with scopes. */
  async assert(caller: Caller): Promise<void> {
    if (!isSignInId(caller.keyId)) throw notByKey();
    await this.assertMayRemove(caller);
  }

  /** Admits keys too, since a program that removes a way in gets no other. */
  async assertMayRemove(caller: Caller): Promise<void> {
    const { keyId } = caller;
    if (isNarrowed(caller)) throw tooNarrow();
    if (!isSignInId(keyId)) return;
    const now = this.#clock.now();
    const found = await this.#store.findSignIn(keyId, now);
    if (!found || now - found.signIn.createdAt > limits.passkeys.freshMs) throw tooOld();
  }
}

function notByKey(): SandhavenError {
  return new SandhavenError('failed_precondition', 'An API key adds no passkey and sets no password.', {
    hint: 'Sign in with a browser, and do it there.',
  });
}

function tooNarrow(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'A key with scopes cannot change passkeys or passwords, which have no limit.',
    { hint: 'Use a key without scopes, or sign in with one.' },
  );
}

function tooOld(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This sign-in is older than 15 minutes.', {
    parameter: 'sign_in',
    hint: 'Sign in once more, then repeat this.',
  });
}

/**
 * Keeps users from locking themselves out: the last passkey or password goes only while a key signs them in, or the
 * identity provider does.
 */
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
