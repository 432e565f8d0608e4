/**
 * A user's one-time authorization at the code-hosting provider: in a browser with a redirect, or by a code that the
 * user enters there. The result belongs to the user who began it.
 */
import { notFound, SandhavenError } from '../../model/errors.ts';
import { newAuthorizationId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Authorization, ProviderAccount, ProviderTokens } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { AuthorizationStore, Clock, CodeHost, Log } from '../ports/index.ts';
import { type Outcome, PendingAuthorizations, type PendingBrowser, type PendingDevice } from './pending.ts';

export interface AuthorizationDependencies {
  host: CodeHost;
  store: AuthorizationStore;
  clock: Clock;
  log: Log;
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
  | Outcome
  | { status: 'pending'; intervalMs: number }
  | { status: 'expired' };

export interface Completed {
  user: User;
  outcome: Outcome;
}

const BROWSER_INTERVAL_MS = 2_000;

export class AuthorizationService {
  readonly host: CodeHost;
  readonly #parts: AuthorizationDependencies;
  readonly #pending: PendingAuthorizations;
  #callbackUrl: string | null = null;

  constructor(parts: AuthorizationDependencies) {
    this.host = parts.host;
    this.#parts = parts;
    this.#pending = new PendingAuthorizations(parts.clock);
  }

  /** @param url URL of the service for its users' browsers; without a slash at its end. */
  servedAt(url: string): void {
    this.#callbackUrl = `${url}/auth/${this.host.name}/callback`;
  }

  startBrowser(user: User): StartedBrowser {
    const { id, expiresAt, state, challenge } = this.#pending.browser(user);
    const redirectUri = this.#redirectUri();
    const url = this.host.authorizationUrl({ state: state ?? '', challenge, redirectUri });
    return { id, expiresAt, url, intervalMs: BROWSER_INTERVAL_MS };
  }

  async startDevice(user: User): Promise<StartedDevice> {
    const pending = this.#pending.device(user, await this.host.startDevice());
    const { userCode, verificationUrl } = pending.device;
    const { id, expiresAt, intervalMs } = pending;
    return { id, expiresAt, userCode, verificationUrl, intervalMs };
  }

  /** Rejects with `not_found` for an authorization that is another user's, or ended long ago. */
  async poll(user: User, id: string): Promise<AuthorizationProgress> {
    const pending = this.#pending.get(user, id);
    if (!pending) {
      throw notFound('authorization', 'There is no such authorization under way.', 'Start another one.');
    }
    if (pending.method === 'device' && this.#isDue(pending)) {
      pending.polling ??= this.#pollProvider(pending).finally(() => {
        pending.polling = null;
      });
      await pending.polling;
    }
    if (pending.outcome) return pending.outcome;
    if (pending.expiresAt <= this.#parts.clock.now()) return { status: 'expired' };
    const intervalMs = pending.method === 'device' ? pending.intervalMs : BROWSER_INTERVAL_MS;
    return { status: 'pending', intervalMs };
  }

  /** Returns the user who began the authorization of this state; null for a used, expired or unknown state. */
  whoAsks(state: string): User | null {
    return this.#pending.peek(state)?.user ?? null;
  }

  /** Records a denial by the user or the provider. Returns null like `whoAsks`. */
  deny(state: string): User | null {
    const pending = this.#pending.take(state);
    if (!pending) return null;
    pending.outcome = { status: 'denied', reason: 'The authorization was denied at the provider.' };
    return pending.user;
  }

  /**
   * Completes an authorization with the browser's code. A state works once, with any outcome; returns null like
   * `whoAsks`.
   */
  async complete(state: string, code: string): Promise<Completed | null> {
    const pending = this.#pending.take(state);
    if (!pending) return null;
    const { user } = pending;
    try {
      pending.outcome = await this.#exchanged(pending, code);
    } catch (error) {
      pending.outcome = { status: 'denied', reason: 'The request to the provider failed.' };
      throw error;
    }
    return { user, outcome: pending.outcome };
  }

  list(user: User): Promise<Authorization[]> {
    return this.#parts.store.list(user.id);
  }

  /**
   * Ends the authorization here at once; `atProvider` shows whether it ended at the provider too. Rejects with
   * `not_found` without one.
   */
  async revoke(user: User): Promise<{ account: ProviderAccount; atProvider: boolean }> {
    const { store, log } = this.#parts;
    const found = await store.get(user.id, this.host.url);
    if (!found || !(await store.remove(found.id))) {
      throw notFound('authorization', `You have not authorized the service at ${this.host.url}.`);
    }
    log.info('a provider authorization was revoked', { user: user.id });
    const atProvider = await this.host.revoke(found.tokens.accessToken).catch(() => false);
    return { account: found.account, atProvider };
  }

  async #exchanged({ user, verifier }: PendingBrowser, code: string): Promise<Outcome> {
    const tokens = await this.host.exchange({ code, verifier, redirectUri: this.#redirectUri() });
    if (tokens) return this.#settle(user, tokens);
    return { status: 'denied', reason: 'The provider rejects the code that it issued.' };
  }

  #isDue({ outcome, nextPollAt, expiresAt, polling }: PendingDevice): boolean {
    const now = this.#parts.clock.now();
    return outcome === null && now < expiresAt && (polling !== null || now >= nextPollAt);
  }

  async #pollProvider(pending: PendingDevice): Promise<void> {
    const { clock } = this.#parts;
    const answer = await this.host.pollDevice(pending.device.deviceCode).finally(() => {
      pending.nextPollAt = clock.now() + pending.intervalMs;
    });
    if (answer.status === 'granted') pending.outcome = await this.#settle(pending.user, answer.tokens);
    else if (answer.status === 'denied') {
      pending.outcome = { status: 'denied', reason: 'The authorization was denied at the provider.' };
    } else if (answer.status === 'expired') pending.expiresAt = clock.now();
    else this.#slowDown(pending, answer);
  }

  #slowDown(pending: PendingDevice, answer: { slowDown: boolean; intervalMs: number | null }): void {
    const { slowDownMs, deviceIntervalMs } = limits.provider;
    if (!answer.slowDown) return;
    const asked = answer.intervalMs ?? pending.intervalMs + slowDownMs;
    pending.intervalMs = Math.min(Math.max(asked, pending.intervalMs), deviceIntervalMs.max);
    pending.nextPollAt = this.#parts.clock.now() + pending.intervalMs;
  }

  async #settle(user: User, tokens: ProviderTokens): Promise<Outcome> {
    const { store, clock, log } = this.#parts;
    const { scope, url } = this.host;
    if (scope !== null && !tokens.scopes.includes(scope)) {
      return {
        status: 'denied',
        reason: `The scope ${scope} was not granted, and Sandhaven requires it.`,
      };
    }
    const account = await this.host.account(tokens.accessToken);
    if (!account) return { status: 'denied', reason: 'The provider rejects the token that it issued.' };
    const now = clock.now();
    const times = { createdAt: now, updatedAt: now };
    await store.put({ id: newAuthorizationId(), userId: user.id, provider: url, account, tokens, ...times });
    log.info('a user authorized the service at the provider', { user: user.id });
    return { status: 'authorized', account };
  }

  #redirectUri(): string {
    if (this.#callbackUrl !== null) return this.#callbackUrl;
    throw new SandhavenError('unavailable', 'The service does not listen yet.', { hint: 'Try again.' });
  }
}
