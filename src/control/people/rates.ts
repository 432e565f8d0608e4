/** Call rate of each key, in memory: after a restart every key has its whole burst again. */

import { type Bucket, isFull, type Rate, takeOne } from '../../fairness/rate.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock } from '../ports/index.ts';

export class Rates {
  readonly #rate: Rate | null;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate | null, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Counts one call of the key. Throws `resource_exhausted` with the time to wait, before any work. */
  count({ keyId }: Pick<Caller, 'keyId'>): void {
    if (!this.#rate) return;
    const now = this.#clock.now();
    const { bucket, waitMs } = takeOne(this.#rate, this.#buckets.get(keyId), now);
    this.#buckets.set(keyId, bucket);
    if (this.#buckets.size > limits.rateBuckets) this.#forget(this.#rate, now);
    if (waitMs === 0) return;
    const { perSecond, burst } = this.#rate;
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

  #forget(rate: Rate, now: number): void {
    for (const [keyId, bucket] of this.#buckets) if (isFull(rate, bucket, now)) this.#buckets.delete(keyId);
  }
}
