/** Identity of callers, the last uses of their keys, and the service's regions. */

import { limits } from '../../model/limits.ts';
import type { Region, Regions } from '../../model/region.ts';
import { withinScopes } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock, KeyStore } from '../ports/index.ts';
import type { CallerRights } from './caller-rights.ts';
import type { Rates } from './rates.ts';

/** Callers by a token of one sandbox. */
export interface TokenHolders {
  authenticate(token: string): Promise<Caller | null>;
  whileValid(caller: Caller, end: () => void): () => void;
}

export interface IdentityDependencies {
  keys: Pick<KeyStore, 'callerOf'>;
  use: Pick<KeyUse, 'note'>;
  callerRights: Pick<CallerRights, 'whileValid'>;
  sandboxTokens: TokenHolders;
  rates: Rates;
  regions: Regions;
  clock: Clock;
}

export class IdentityService {
  readonly #deps: IdentityDependencies;

  constructor(dependencies: IdentityDependencies) {
    this.#deps = dependencies;
  }

  /** Returns null for what is neither a valid key nor a token of a sandbox. The surface then settles the team that the caller acts for. */
  async authenticate(apiKey: string): Promise<Caller | null> {
    const { keys, use, clock } = this.#deps;
    const caller = await keys.callerOf(apiKey, clock.now());
    if (!caller) return this.#deps.sandboxTokens.authenticate(apiKey);
    await use.note(caller.keyId);
    return withinScopes(caller);
  }

  /** Counts one call of the caller's key, or of the tokens of an owner's sandboxes. Throws `resource_exhausted` above its rate, before any work. */
  count({ id, keyId, only }: Caller): void {
    this.#deps.rates.count({ keyId: only ? `tokens of ${id}` : keyId });
  }

  /** Number of calls that were refused for their rate. */
  get refusedByRate(): number {
    return this.#deps.rates.refused;
  }

  /** Calls `end` when the caller's key ends, until the returned function is called. */
  whileValid(caller: Caller, end: () => void): () => void {
    const { callerRights, sandboxTokens } = this.#deps;
    return (caller.only ? sandboxTokens : callerRights).whileValid(caller, end);
  }

  /** Returns the known regions, this service's own first. */
  regions(): Regions {
    return this.#deps.regions;
  }

  /** Returns the region of everything that this service creates. */
  get home(): Region {
    return this.#deps.regions[0];
  }
}

/**
 * Last use of each key. A request only notes it in memory; a flush writes it once a minute at most, so a crash loses a
 * minute of uses, and all but one request a minute avoid the disk.
 */
export class KeyUse {
  readonly #store: Pick<KeyStore, 'touch'>;
  readonly #clock: Clock;
  #noted = new Map<string, number>();
  #writtenAt = 0;

  constructor(store: Pick<KeyStore, 'touch'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async note(keyId: string): Promise<void> {
    const now = this.#clock.now();
    this.#noted.set(keyId, now);
    if (now - this.#writtenAt >= limits.keyUseWrittenMs) await this.flush();
  }

  async flush(): Promise<void> {
    const noted = this.#noted;
    this.#noted = new Map();
    this.#writtenAt = this.#clock.now();
    await this.#store.touch(noted);
  }
}
