/** Tokens of users, renewed before they expire: once for all concurrent calls, of all replicas. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Authorization } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import { assertTenure, underLease } from '../base/tenure.ts';
import type { AuthorizationStore, Clock, CodeHost, Log, Replicas } from '../ports/index.ts';
import type { AuthorizationUses } from './device-polls.ts';

export interface UserTokensDependencies {
  store: AuthorizationStore;
  host: CodeHost;
  replicas: Replicas;
  uses: Pick<AuthorizationUses, 'changed'>;
  clock: Clock;
  log: Log;
}

export class UserTokens {
  readonly #parts: UserTokensDependencies;
  readonly #turns: RenewalTurns;
  readonly #renewing = new Map<string, Promise<Authorization | null>>();

  constructor(parts: UserTokensDependencies) {
    this.#parts = parts;
    this.#turns = new RenewalTurns(parts);
  }

  /**
   * Returns the authorization with a token that is valid for a while; null when the user has to authorize first, or
   * again.
   */
  async current(user: Pick<User, 'id'>): Promise<Authorization | null> {
    const { store, host, clock } = this.#parts;
    const found = await store.get(user.id, host.url);
    if (!found) return null;
    const { accessExpiresAt } = found.tokens;
    if (accessExpiresAt === null || accessExpiresAt - limits.provider.renewAheadMs > clock.now())
      return found;
    return this.#renewed(found);
  }

  /**
   * Handles a token that the provider rejects. Returns true when the user has to authorize again: a token also ends
   * when another call renews it, here or at another replica, and then nothing is lost.
   */
  async ended(authorization: Authorization): Promise<boolean> {
    const { store, host } = this.#parts;
    await this.#renewing.get(authorization.id)?.catch(() => null);
    const kept = await store.get(authorization.userId, host.url);
    if (kept === null) return true;
    if (kept.tokens.accessToken !== authorization.tokens.accessToken) return false;
    const dropped = await this.#turns.run(kept, () => this.#drop(kept));
    return dropped !== null || (await store.get(authorization.userId, host.url)) === null;
  }

  async #drop(authorization: Authorization): Promise<void> {
    const { store, uses, log } = this.#parts;
    await store.remove(authorization.id);
    uses.changed(authorization.userId);
    log.info('a provider authorization ended', { user: authorization.userId });
  }

  #renewed(authorization: Authorization): Promise<Authorization | null> {
    const under = this.#renewing.get(authorization.id);
    if (under) return under;
    const renewing = this.#renew(authorization).finally(() => this.#renewing.delete(authorization.id));
    this.#renewing.set(authorization.id, renewing);
    return renewing;
  }

  async #renew(stale: Authorization): Promise<Authorization | null> {
    const { store, host, clock } = this.#parts;
    // Another call may have renewed it between the read of the row and this call's turn.
    const found = await store.get(stale.userId, host.url);
    if (!found || found.updatedAt !== stale.updatedAt || found.id !== stale.id) return found;
    const { refreshToken, refreshExpiresAt, accessExpiresAt } = found.tokens;
    const now = clock.now();
    const works = accessExpiresAt !== null && accessExpiresAt > now;
    if (refreshToken === null || (refreshExpiresAt !== null && refreshExpiresAt <= now)) {
      if (works) return found;
      await this.#drop(found);
      return null;
    }
    try {
      const renewed = await this.#turns.run(found, () => this.#refresh(found, refreshToken));
      return renewed === null ? await store.get(found.userId, host.url) : renewed.value;
    } catch (error) {
      if (works) return found;
      throw error;
    }
  }

  /** Returns null when the provider rejects the refresh token: the authorization is over. */
  async #refresh(found: Authorization, refreshToken: string): Promise<Authorization | null> {
    const { store, host, uses, clock } = this.#parts;
    const tokens = await host.refresh(refreshToken);
    if (tokens === null) {
      await this.#drop(found);
      return null;
    }
    const scopes = tokens.scopes.length > 0 ? tokens.scopes : found.tokens.scopes;
    // Later than the one before, whatever the clocks of other replicas show: it tells the two apart.
    const updatedAt = Math.max(clock.now(), found.updatedAt + 1);
    const renewed = { ...found, tokens: { ...tokens, scopes }, updatedAt };
    if (await store.renew(found.id, renewed.tokens, updatedAt)) {
      uses.changed(found.userId);
      return renewed;
    }
    // The user revoked it meanwhile, so the new token must not survive.
    await host.revoke(tokens.accessToken).catch(() => false);
    return store.get(found.userId, host.url);
  }
}

/**
 * The turn to renew an authorization, which one replica has at a time: a refresh token works once, and a provider may
 * revoke everything when it sees one again. The turn is in the row, by the database's clock. A replica that is gone
 * keeps it for a bounded time; the answer that it waited for may be lost, and then the user has to authorize again.
 */
interface RenewalTurnsDependencies {
  store: Pick<AuthorizationStore, 'get' | 'takeRenewal' | 'leaveRenewal'>;
  replicas: Replicas;
  log: Pick<Log, 'warn'>;
}

class RenewalTurns {
  readonly #deps: RenewalTurnsDependencies;

  constructor(dependencies: RenewalTurnsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Runs `work` in the turn; at once, without a round trip, where this process is alone. Returns null without the work
   * when the authorization is another one by then. Rejects with `unavailable` without a lease, or when others have the
   * turn for longer than `limits.provider.renewWaitMs`.
   */
  async run<T>(authorization: Authorization, work: () => Promise<T>): Promise<{ value: T } | null> {
    const { store, replicas, log } = this.#deps;
    if (!replicas.shared) return { value: await work() };
    return underLease(replicas, async () => {
      const turn = await this.#take(authorization);
      if (turn === null) return null;
      try {
        // Suspended since it took the turn, this replica may have lost it.
        assertTenure(replicas);
        return { value: await work() };
      } finally {
        // What the work has renewed or removed needs no end of the turn.
        await store
          .leaveRenewal(authorization.id, turn)
          .catch((error: unknown) =>
            log.warn('the turn to renew an authorization lasts until its end', { error }),
          );
      }
    });
  }

  async #take({ id, userId, provider, updatedAt }: Authorization): Promise<number | null> {
    const { store } = this.#deps;
    const { renewTurnMs, renewWaitMs, renewLookMs } = limits.provider;
    for (const until = performance.now() + renewWaitMs; ; ) {
      const turn = await store.takeRenewal(id, updatedAt, renewTurnMs);
      if (turn !== null) return turn;
      const now = await store.get(userId, provider);
      if (now?.id !== id || now.updatedAt !== updatedAt) return null;
      if (performance.now() > until) throw tooLong();
      await sleep(renewLookMs);
    }
  }
}

function tooLong(): SandhavenError {
  return new SandhavenError('unavailable', 'Another replica is renewing the authorization at the provider.', {
    hint: 'Try again in a moment.',
    retryable: true,
  });
}
