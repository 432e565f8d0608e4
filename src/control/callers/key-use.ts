/**
 * Last use of each key. A request only notes it in memory; a flush writes it once a minute at most, so a crash loses a
 * minute of uses, and all but one request a minute avoid the disk.
 */
import { limits } from '../../model/limits.ts';
import type { Clock, KeyStore } from '../ports/index.ts';

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
