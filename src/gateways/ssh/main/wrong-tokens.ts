/**
 * Slows down addresses that try wrong tokens. A token cannot be guessed; this is against clients that try all
 * the same and cost the service its time. Nobody is locked out: several people share an address.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';

export class WrongTokens {
  /** Keyed by address, in the order of the last wrong token. */
  readonly #recent = new Map<string, { count: number; at: number }>();

  /** Resolves when one more wrong token may be answered. */
  async answer(address: string, now: number): Promise<void> {
    await sleep(this.delay(address, now), undefined, { ref: false });
  }

  /** Counts one more, and returns the delay of its answer. */
  delay(address: string, now: number): number {
    const { wrongTokenDelayMs, wrongTokenDelayMaxMs, wrongTokenForgottenMs, addressesRemembered } =
      limits.ssh;
    const earlier = this.#recent.get(address);
    const count = earlier && now - earlier.at < wrongTokenForgottenMs ? earlier.count + 1 : 1;
    this.#recent.delete(address);
    this.#recent.set(address, { count, at: now });
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= addressesRemembered) break;
      this.#recent.delete(oldest);
    }
    return Math.min(wrongTokenDelayMs * 2 ** Math.min(count - 1, 16), wrongTokenDelayMaxMs);
  }
}
