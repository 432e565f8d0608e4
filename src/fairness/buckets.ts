/** Token buckets by key, in memory: at most so many, the idle and the longest unseen forgotten first. */
import { type Bucket, isFull, partOf, type Rate, takeOne } from './rate.ts';

export class Buckets {
  readonly #whole: Rate;
  readonly #most: number;
  readonly #replicas: { readonly count: number };
  readonly #buckets = new Map<string, Bucket>();

  /** @param replicas Each allows its part of the rate; by default all of it is allowed here. */
  constructor(rate: Rate, most: number, replicas: { readonly count: number } = { count: 1 }) {
    this.#whole = rate;
    this.#most = most;
    this.#replicas = replicas;
  }

  /** Takes a token. Returns the time until there is one: 0 when it was taken. */
  take(key: string, now: number): number {
    const rate = partOf(this.#whole, this.#replicas.count);
    const { bucket, waitMs } = takeOne(rate, this.#buckets.get(key), now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#most) this.#forget(rate, now);
    return waitMs;
  }

  #forget(rate: Rate, now: number): void {
    for (const [key, bucket] of this.#buckets) if (isFull(rate, bucket, now)) this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#most && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
