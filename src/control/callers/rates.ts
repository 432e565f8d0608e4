/** Call rate of each key, in memory: after a restart every key has its whole burst again. */

import { type Bucket, isFull, partOf, type Rate, takeOne } from '../../fairness/rate.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock } from '../ports/index.ts';

export class Rates {
  readonly #whole: Rate | null;
  readonly #clock: Clock;
  readonly #replicas: { readonly count: number };
  #refused = 0;
  readonly #buckets = new Map<string, Bucket>();

  /** @param replicas Each allows its part of the rate: a front spreads the calls among them. */
  constructor(rate: Rate | null, clock: Clock, replicas: { readonly count: number } = { count: 1 }) {
    this.#whole = rate;
    this.#clock = clock;
    this.#replicas = replicas;
  }

  /** Counts one call of the key. Throws `resource_exhausted` with the time to wait, before any work. */
  count({ keyId }: Pick<Caller, 'keyId'>): void {
    const rate = this.#rate();
    if (!rate || !this.#whole) return;
    const now = this.#clock.now();
    const { bucket, waitMs } = takeOne(rate, this.#buckets.get(keyId), now);
    this.#buckets.set(keyId, bucket);
    if (this.#buckets.size > limits.rateBuckets) this.#forget(rate, now);
    if (waitMs === 0) return;
    this.#refused += 1;
    const { perSecond, burst } = this.#whole;
    throw new SandhavenError(
      'resource_exhausted',
      `The rate limit of this key is ${perSecond} calls a second, ${burst} at once, and it is reached.`,
      {
        hint: 'Wait retry_after_seconds, then repeat the same call: nothing of it was done.',
        retryable: true,
        retry_after_seconds: Math.ceil(waitMs / 1_000),
      },
    );
  }

  /** Number of calls that were refused. */
  get refused(): number {
    return this.#refused;
  }

  #rate(): Rate | null {
    return this.#whole && partOf(this.#whole, this.#replicas.count);
  }

  #forget(rate: Rate, now: number): void {
    for (const [keyId, bucket] of this.#buckets) if (isFull(rate, bucket, now)) this.#buckets.delete(keyId);
  }
}
