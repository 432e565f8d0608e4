/** Attempts to sign in, counted by network in memory: whoever guesses waits, and nobody else does. */
import { type Bucket, isFull, type Rate, takeOne } from '../../../fairness/rate.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';

const { addresses } = limits.signIn;

export class Attempts {
  readonly #buckets = new Map<string, Bucket>();
  readonly #rate: Rate;

  /** @param rate Of one network. */
  constructor(rate: Rate = limits.signIn.rate) {
    this.#rate = rate;
  }

  /** Throws `resource_exhausted` with the time to wait. */
  count(address: string): void {
    const now = performance.now();
    const network = networkOf(address);
    const { bucket, waitMs } = takeOne(this.#rate, this.#buckets.get(network), now);
    this.#buckets.delete(network);
    this.#buckets.set(network, bucket);
    if (this.#buckets.size > addresses) this.#forget(now);
    if (waitMs === 0) return;
    throw new SandhavenError('resource_exhausted', 'There were too many attempts to sign in from here.', {
      hint: 'Wait retry_after_seconds, then try again.',
      retryable: true,
      retry_after_seconds: Math.ceil(waitMs / 1_000),
    });
  }

  /** Forgets the idle ones, and the longest unseen where all are busy. */
  #forget(now: number): void {
    for (const [network, bucket] of this.#buckets)
      if (isFull(this.#rate, bucket, now)) this.#buckets.delete(network);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > addresses && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
