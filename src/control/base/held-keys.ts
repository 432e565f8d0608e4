/** Keys of which each is held by one replica at a time, until it releases it or is given up. */
import { limits } from '../../model/limits.ts';
import type { IdempotencyStore, Replicas } from '../ports/index.ts';

/** Gives the key back, later than now when the store is away. */
export type Release = () => void;

export class HeldKeys {
  readonly #store: Pick<IdempotencyStore, 'hold' | 'release'>;
  readonly #replicas: Pick<Replicas, 'id' | 'lives'>;
  /** Releases under way, by slot. */
  readonly #releases = new Map<string, Promise<void>>();

  constructor(store: Pick<IdempotencyStore, 'hold' | 'release'>, replicas: Pick<Replicas, 'id' | 'lives'>) {
    this.#store = store;
    this.#replicas = replicas;
  }

  /** Returns null when another live replica holds the key. This replica itself gets it again: callers prevent that. */
  async take(ownerId: string, key: string): Promise<Release | null> {
    const { id } = this.#replicas;
    if (id === null) return () => {};
    const slot = `${ownerId} ${key}`;
    // The late release of an earlier hold would release this one.
    await this.#releases.get(slot);
    for (let dead: string | null = null; ; ) {
      const holder = await this.#store.hold(ownerId, key, id, dead);
      if (holder === id) break;
      if (await this.#replicas.lives(holder)) return null;
      dead = holder;
    }
    return () => {
      const release = this.#release(ownerId, key, id).then(() => void this.#releases.delete(slot));
      this.#releases.set(slot, release);
    };
  }

  /** Resolves once no other live replica holds the key. */
  async wait(ownerId: string, key: string): Promise<Release> {
    for (;;) {
      const release = await this.take(ownerId, key);
      if (release) return release;
      await pause(limits.replicas.lookAgainMs);
    }
  }

  /** A key that could not be released stays this replica's until it is: its retries come to it again. */
  async #release(ownerId: string, key: string, id: string): Promise<void> {
    while (this.#replicas.id === id) {
      try {
        return await this.#store.release(ownerId, key, id);
      } catch {
        await pause(limits.replicas.lookAgainMs);
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
