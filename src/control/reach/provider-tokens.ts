/**
 * Tokens of owners at the code-hosting provider, as requests of their sandboxes carry them. Only an enabled user who may
 * change sandboxes has one; it leaves running sandboxes when that ends.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Authorization } from '../../model/provider.ts';
import type { ProviderAddresses, ProviderToken } from '../../model/secrets/provider-secret.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { AuthorizationStore, Clock, Log } from '../ports/index.ts';
import type { UserTokens } from '../provider/tokens.ts';

export interface ProviderTokensDependencies {
  host: ProviderAddresses;
  store: Pick<AuthorizationStore, 'get'>;
  tokens: Pick<UserTokens, 'current'>;
  callerRights: Pick<CallerRights, 'whileEnabled'>;
  /** Hears that a user who had a token may not use it any more. */
  disabled(ownerId: string): void;
  clock: Clock;
  log: Log;
}

/** A token, and which one of its user's it is. */
export interface OwnedToken extends ProviderToken {
  version: string;
}

export class ProviderTokens {
  readonly #deps: ProviderTokensDependencies;
  /** End the watch over an owner. */
  readonly #watched = new Map<string, () => void>();

  constructor(dependencies: ProviderTokensDependencies) {
    this.#deps = dependencies;
  }

  get addresses(): ProviderAddresses {
    return this.#deps.host;
  }

  /**
   * Returns null when the owner has no authorization, or may not use it. A token that has run out is renewed, and comes back
   * as it is while the provider does not answer: a start of a sandbox does not fail with it.
   */
  async of(ownerId: string): Promise<OwnedToken | null> {
    if (!(await this.#isEnabled(ownerId))) return null;
    const { store, host } = this.#deps;
    const kept = await store.get(ownerId, host.url);
    const present = kept && this.#hasRunOut(kept) ? await this.#renewed(kept) : kept;
    if (!present) return null;
    const { id, updatedAt, tokens } = present;
    return { value: tokens.accessToken, expiresAt: tokens.accessExpiresAt, version: `${id} ${updatedAt}` };
  }

  /** Forgets all owners but these. */
  forgetOthers(ownerIds: readonly string[]): void {
    for (const [ownerId, stop] of this.#watched) {
      if (ownerIds.includes(ownerId)) continue;
      this.#watched.delete(ownerId);
      stop();
    }
  }

  /** A provider whose tokens end at once is asked no more often than it is looked at. */
  #hasRunOut({ tokens, updatedAt }: Authorization): boolean {
    const now = this.#deps.clock.now();
    const isOver = tokens.accessExpiresAt !== null && tokens.accessExpiresAt <= now;
    return isOver && updatedAt + limits.secrets.providerLookMs <= now;
  }

  async #renewed(kept: Authorization): Promise<Authorization | null> {
    try {
      return await this.#deps.tokens.current({ id: kept.userId });
    } catch (error) {
      this.#deps.log.warn('a token of the provider cannot be renewed for sandboxes', {
        ...{ user: kept.userId, error },
      });
      return kept;
    }
  }

  async #isEnabled(ownerId: string): Promise<boolean> {
    const { callerRights, disabled } = this.#deps;
    try {
      const stop = await callerRights.whileEnabled(ownerId, () => {
        this.#watched.delete(ownerId);
        disabled(ownerId);
      });
      this.#watched.get(ownerId)?.();
      this.#watched.set(ownerId, stop);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof SandhavenError && error.code === 'permission_denied';
}
