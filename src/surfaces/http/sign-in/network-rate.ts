/** Rate of each network, counted in memory: who asks too often waits, and nobody else does. */
import { type Bucket, isFull, type Rate, takeOne } from '../../../fairness/rate.ts';
import { SandhavenError } from '../../../model/errors.ts';

export class NetworkRate {
  readonly #rate: Rate;
  readonly #networks: number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param networks Networks that are counted before idle ones are forgotten. */
  constructor(rate: Rate, networks: number) {
    this.#rate = rate;
    this.#networks = networks;
  }

  /** Counts one; returns the time to wait, in ms, above the rate. */
  take(network: string): number {
    const now = performance.now();
    const { bucket, waitMs } = takeOne(this.#rate, this.#buckets.get(network), now);
    this.#buckets.delete(network);
    this.#buckets.set(network, bucket);
    if (this.#buckets.size > this.#networks) this.#forget(now);
    return waitMs;
  }

  /** Throws `resource_exhausted` with the time to wait. @param what For people: what there was too much of. */
  count(network: string, what: string): void {
    const waitMs = this.take(network);
    if (waitMs === 0) return;
    throw new SandhavenError('resource_exhausted', `There were too many ${what} from here.`, {
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
    if (this.#buckets.size > this.#networks && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
