/** Tokens of users, renewed before they expire: once for all concurrent calls. */
import { limits } from '../../model/limits.ts';
import type { Authorization } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { AuthorizationStore, Clock, CodeHost, Log } from '../ports/index.ts';

export interface UserTokensDependencies {
  store: AuthorizationStore;
  host: CodeHost;
  clock: Clock;
  log: Log;
}

export class UserTokens {
  readonly #parts: UserTokensDependencies;
  readonly #renewing = new Map<string, Promise<Authorization | null>>();

  constructor(parts: UserTokensDependencies) {
    this.#parts = parts;
  }

  /**
   * Returns the authorization with a token that is valid for a while; null when the user has to authorize first, or
   * again.
   */
  async current(user: User): Promise<Authorization | null> {
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
   * when another call renews it, and then nothing is lost.
   */
  async ended(authorization: Authorization): Promise<boolean> {
    const { store, host } = this.#parts;
    await this.#renewing.get(authorization.id)?.catch(() => null);
    const kept = await store.get(authorization.userId, host.url);
    if (kept && kept.tokens.accessToken !== authorization.tokens.accessToken) return false;
    await this.#drop(authorization);
    return true;
  }

  async #drop(authorization: Authorization): Promise<void> {
    await this.#parts.store.remove(authorization.id);
    this.#parts.log.info('a provider authorization ended', { user: authorization.userId });
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
      const tokens = await host.refresh(refreshToken);
      if (tokens !== null) {
        const scopes = tokens.scopes.length > 0 ? tokens.scopes : found.tokens.scopes;
        const renewed = { ...found, tokens: { ...tokens, scopes }, updatedAt: clock.now() };
        const stored = await store.renew(found.id, renewed.tokens, renewed.updatedAt);
        if (stored) return renewed;
        // The user revoked it meanwhile, so the new token must not survive.
        await host.revoke(tokens.accessToken).catch(() => false);
        return await store.get(found.userId, host.url);
      }
    } catch (error) {
      if (works) return found;
      throw error;
    }
    await this.#drop(found);
    return null;
  }
}
