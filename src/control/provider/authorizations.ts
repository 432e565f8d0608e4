/**
 * A user's one-time authorization at the code-hosting provider: in a browser with a redirect, or by a code that the
 * user enters there. The result belongs to the user who began it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { newAuthorizationId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Authorization, AuthorizationOutcome, ProviderAccount } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type {
  BrowserFlow,
  CodeHost,
  DeviceCode,
  DeviceFlow,
  PendingAuthorizationStore,
  TakenFlow,
} from '../ports/index.ts';
import { DevicePolls, type GrantDependencies, storeGranted } from './device-polls.ts';

export interface AuthorizationDependencies extends GrantDependencies {
  pending: PendingAuthorizationStore;
}

export interface StartedBrowser {
  id: string;
  expiresAt: number;
  /** Page where a person grants the authorization. */
  url: string;
  intervalMs: number;
}

export interface StartedDevice {
  id: string;
  expiresAt: number;
  userCode: string;
  verificationUrl: string;
  intervalMs: number;
}

export type AuthorizationProgress =
  | AuthorizationOutcome
  | { status: 'pending'; intervalMs: number }
  | { status: 'expired' };

export interface Completed {
  user: User;
  outcome: AuthorizationOutcome;
}

const BROWSER_INTERVAL_MS = 2_000;

export class AuthorizationService {
  readonly host: CodeHost;
  readonly #parts: AuthorizationDependencies;
  readonly #devicePolls: DevicePolls;
  #callbackUrl: string | null = null;

  constructor(parts: AuthorizationDependencies) {
    this.host = parts.host;
    this.#parts = parts;
    this.#devicePolls = new DevicePolls(parts);
  }

  /** @param url URL of the service for its users' browsers; without a slash at its end. */
  servedAt(url: string): void {
    this.#callbackUrl = `${url}/auth/${this.host.name}/callback`;
  }

  /** Returns an authorization that has half of its time left, else a new one: repeated calls show no new URLs. */
  async startBrowser(user: User): Promise<StartedBrowser> {
    const { pending, clock } = this.#parts;
    const redirectUri = this.#redirectUri();
    const now = clock.now();
    const flow = newBrowserFlow(user, this.host.url, now);
    const { id, expiresAt, state, verifier } = await pending.addBrowser(
      flow,
      now + limits.provider.stateMs / 2,
    );
    const url = this.host.authorizationUrl({ state, challenge: challengeOf(verifier), redirectUri });
    return { id, expiresAt, url, intervalMs: BROWSER_INTERVAL_MS };
  }

  async startDevice(user: User): Promise<StartedDevice> {
    const { pending, clock } = this.#parts;
    const device = await this.host.startDevice();
    const flow = newDeviceFlow(user, this.host.url, device, clock.now());
    await pending.addDevice(flow);
    const { id, expiresAt, intervalMs } = flow;
    const { userCode, verificationUrl } = device;
    return { id, expiresAt, userCode, verificationUrl, intervalMs };
  }

  /** Rejects with `not_found` for an authorization that is another user's, or ended long ago. */
  async poll(user: User, id: string): Promise<AuthorizationProgress> {
    const { pending, clock } = this.#parts;
    const now = clock.now();
    const found = await pending.progress({ id, userId: user.id, provider: this.host.url }, now);
    if (!found) {
      throw notFound('authorization', 'There is no such authorization under way.', 'Start another one.');
    }
    const { polls } = found;
    const polled =
      polls !== null && found.outcome === null && now < found.expiresAt
        ? await this.#devicePolls.poll(user, id, { ...found, polls })
        : found;
    if (polled.outcome) return polled.outcome;
    if (polled.expiresAt <= clock.now()) return { status: 'expired' };
    return { status: 'pending', intervalMs: polled.polls?.intervalMs ?? BROWSER_INTERVAL_MS };
  }

  /** Returns the user who began the authorization of this state; null for a used, expired or unknown state. */
  async whoAsks(state: string): Promise<User | null> {
    const { pending, clock } = this.#parts;
    return hasFormOfState(state) ? pending.userOf(state, this.host.url, clock.now()) : null;
  }

  /** Records a denial by the user or the provider. Returns null like `whoAsks`. */
  async deny(state: string): Promise<User | null> {
    // Anybody may send any state: one that leads nowhere writes nothing.
    if (!(await this.whoAsks(state))) return null;
    const taken = await this.#take(state);
    if (!taken) return null;
    await this.#parts.pending.decide(taken.id, {
      status: 'denied',
      reason: 'The authorization was denied at the provider.',
    });
    return taken.user;
  }

  /**
   * Completes an authorization with the browser's code. A state works once, with any outcome; returns null like
   * `whoAsks`.
   */
  async complete(state: string, code: string): Promise<Completed | null> {
    const taken = await this.#take(state);
    if (!taken) return null;
    let outcome: AuthorizationOutcome = { status: 'denied', reason: 'The request to the provider failed.' };
    try {
      outcome = await this.#exchanged(taken, code);
    } finally {
      await this.#parts.pending.decide(taken.id, outcome);
    }
    return { user: taken.user, outcome };
  }

  list(user: User): Promise<Authorization[]> {
    return this.#parts.store.list(user.id);
  }

  /**
   * Ends the authorization here at once, also in requests of running sandboxes; `atProvider` shows whether it ended at the
   * provider too. Rejects with `not_found` without one, and with `unavailable` where a running sandbox could not be reached.
   */
  async revoke(user: User): Promise<{ account: ProviderAccount; atProvider: boolean }> {
    const { store, uses, log } = this.#parts;
    const found = await store.get(user.id, this.host.url);
    if (!found || !(await store.remove(found.id))) {
      throw notFound('authorization', `You have not authorized the service at ${this.host.url}.`);
    }
    log.info('a provider authorization was revoked', { user: user.id });
    const [left, atProvider] = await Promise.allSettled([
      uses.ended(user.id),
      this.host.revoke(found.tokens.accessToken),
    ]);
    if (left.status === 'rejected') throw left.reason;
    return { account: found.account, atProvider: atProvider.status === 'fulfilled' && atProvider.value };
  }

  async #take(state: string): Promise<TakenFlow | null> {
    const { pending, clock } = this.#parts;
    return hasFormOfState(state) ? pending.take(state, this.host.url, clock.now()) : null;
  }

  async #exchanged({ user, verifier }: TakenFlow, code: string): Promise<AuthorizationOutcome> {
    const tokens = await this.host.exchange({ code, verifier, redirectUri: this.#redirectUri() });
    if (tokens) return storeGranted(this.#parts, user, tokens);
    return { status: 'denied', reason: 'The provider rejects the code that it issued.' };
  }

  #redirectUri(): string {
    if (this.#callbackUrl !== null) return this.#callbackUrl;
    throw new SandhavenError('unavailable', 'The service does not listen yet.', { hint: 'Try again.' });
  }
}

const SECRET_BYTES = 32;
const secretForm = /^[\w-]{43}$/;

/**
 * A new authorization at the provider: its id, secrets and times. The store keeps it for all replicas.
 * @param now Milliseconds since the epoch.
 */
function newBrowserFlow(user: User, provider: string, now: number): BrowserFlow {
  return {
    ...commonOf(user, provider, now, limits.provider.stateMs),
    state: newSecret(),
    verifier: newSecret(),
  };
}

/** Bounds the provider's times. */
function newDeviceFlow(user: User, provider: string, device: DeviceCode, now: number): DeviceFlow {
  const { deviceMs, deviceIntervalMs } = limits.provider;
  const { min, max } = deviceIntervalMs;
  const intervalMs = Math.min(Math.max(device.intervalMs, min), max);
  return {
    ...commonOf(user, provider, now, Math.min(device.expiresInMs, deviceMs)),
    deviceCode: device.deviceCode,
    intervalMs,
    nextPollAt: now + intervalMs,
  };
}

/** Returns the PKCE challenge of a verifier, by the method S256 (RFC 7636). */
function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Returns false for a text that is no state of any flow, so that the store need not be asked. */
function hasFormOfState(text: string): boolean {
  return secretForm.test(text);
}

function commonOf({ id: userId }: User, provider: string, now: number, forMs: number) {
  return { id: newAuthorizationId(), userId, provider, createdAt: now, expiresAt: now + forMs };
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
