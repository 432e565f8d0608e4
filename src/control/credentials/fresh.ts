/**
 * Passkeys and passwords are changed by a fresh sign-in only, since whoever finds a browser signed in should not add theirs. Signing in
 * once more makes a fresh one. Keys and links are not held to it, so it is no barrier to who makes one of those first.
 */
import { isNarrowed } from '../../model/access/scopes.ts';
import { SandhavenError } from '../../model/errors.ts';
import { isSignInId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock, SignInStore } from '../ports/index.ts';

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
