/** Token buckets by key, in memory: at most so many, the idle and the longest unseen forgotten first. */
import { type Bucket, isFull, type Rate, takeOne } from './rate.ts';

export class Buckets {
  readonly #rate: Rate;
  readonly #most: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, most: number) {
    this.#rate = rate;
    this.#most = most;
  }

  /** Takes a token. Returns the time until there is one: 0 when it was taken. */
  take(key: string, now: number): number {
    const { bucket, waitMs } = takeOne(this.#rate, this.#buckets.get(key), now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#most) this.#forget(now);
    return waitMs;
  }

  #forget(now: number): void {
    for (const [key, bucket] of this.#buckets) if (isFull(this.#rate, bucket, now)) this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#most && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
