/**
 * Pending authorizations, in memory: a restart forgets them, and the user begins again. A state leads to one of them
 * until it has been used once, or has expired.
 */
import { createHash, randomBytes } from 'node:crypto';
import { newAuthorizationId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { ProviderAccount } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { Clock, DeviceCode } from '../ports/index.ts';

export type Outcome =
  | { status: 'authorized'; account: ProviderAccount }
  | { status: 'denied'; reason: string };

interface Common {
  id: string;
  user: User;
  expiresAt: number;
  /** null: not decided yet. */
  outcome: Outcome | null;
}

export interface PendingBrowser extends Common {
  method: 'browser';
  /** null once it has been used. */
  state: string | null;
  /** PKCE verifier; only its hash leaves the service before the code is exchanged. */
  verifier: string;
  challenge: string;
}

export interface PendingDevice extends Common {
  method: 'device';
  device: DeviceCode;
  intervalMs: number;
  /** Time of the next request to the provider. */
  nextPollAt: number;
  polling: Promise<void> | null;
}

export type Pending = PendingBrowser | PendingDevice;

const SECRET_BYTES = 32;

export class PendingAuthorizations {
  readonly #clock: Clock;
  readonly #byId = new Map<string, Pending>();
  readonly #byState = new Map<string, PendingBrowser>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns a pending authorization that has half of its time left, else a new one: repeated calls show no new URLs.
   */
  browser(user: User): PendingBrowser {
    const now = this.#clock.now();
    const stillGood = now + limits.provider.stateMs / 2;
    const fresh = this.#of(user).find((each) => isFresh(each, stillGood));
    if (fresh?.method === 'browser') return fresh;
    const verifier = secret();
    const pending: PendingBrowser = {
      ...this.#common(user, limits.provider.stateMs),
      method: 'browser',
      state: secret(),
      verifier,
      challenge: createHash('sha256').update(verifier).digest('base64url'),
    };
    if (pending.state !== null) this.#byState.set(pending.state, pending);
    return this.#add(pending);
  }

  device(user: User, device: DeviceCode): PendingDevice {
    const { min, max } = limits.provider.deviceIntervalMs;
    const intervalMs = Math.min(Math.max(device.intervalMs, min), max);
    return this.#add({
      ...this.#common(user, Math.min(device.expiresInMs, limits.provider.deviceMs)),
      method: 'device',
      device,
      intervalMs,
      nextPollAt: this.#clock.now() + intervalMs,
      polling: null,
    });
  }

  /** Returns an authorization of this user alone; null also some time after its end. */
  get(user: User, id: string): Pending | null {
    this.#prune();
    const pending = this.#byId.get(id);
    return pending?.user.id === user.id ? pending : null;
  }

  /** Returns the authorization of a state that is still valid. */
  peek(state: string): PendingBrowser | null {
    const pending = this.#byState.get(state);
    return pending && pending.expiresAt > this.#clock.now() ? pending : null;
  }

  /** Like `peek`, and uses the state up. */
  take(state: string): PendingBrowser | null {
    const pending = this.peek(state);
    this.#byState.delete(state);
    if (pending) pending.state = null;
    return pending;
  }

  #common(user: User, forMs: number): Common {
    return { id: newAuthorizationId(), user, expiresAt: this.#clock.now() + forMs, outcome: null };
  }

  /** Adds an authorization; drops expired ones, and the oldest above a bound. */
  #add<T extends Pending>(pending: T): T {
    this.#prune();
    const own = this.#of(pending.user);
    if (own.length >= limits.provider.pendingPerUser) this.#drop(own[0]);
    if (this.#byId.size >= limits.provider.pending) this.#drop(this.#byId.values().next().value);
    this.#byId.set(pending.id, pending);
    return pending;
  }

  #of(user: User): Pending[] {
    return [...this.#byId.values()].filter((pending) => pending.user.id === user.id);
  }

  #prune(): void {
    const over = this.#clock.now() - limits.provider.outcomeMs;
    for (const pending of this.#byId.values()) if (pending.expiresAt <= over) this.#drop(pending);
  }

  #drop(pending: Pending | undefined): void {
    if (!pending) return;
    this.#byId.delete(pending.id);
    if (pending.method === 'browser' && pending.state !== null) this.#byState.delete(pending.state);
  }
}

function isFresh(pending: Pending, until: number): boolean {
  return pending.method === 'browser' && pending.state !== null && pending.expiresAt >= until;
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
