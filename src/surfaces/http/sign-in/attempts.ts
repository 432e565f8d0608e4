/** Attempts to sign in, counted by network in memory: whoever guesses waits, and nobody else does. */
import { Buckets } from '../../../fairness/buckets.ts';
import type { Rate } from '../../../fairness/rate.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';

export class Attempts {
  readonly #buckets: Buckets;

  constructor(rate: Rate = limits.signIn.rate) {
    this.#buckets = new Buckets(rate, limits.signIn.addresses);
  }

  /** Throws `resource_exhausted` with the time to wait. */
  count(address: string): void {
    const waitMs = this.#buckets.take(networkOf(address), performance.now());
    if (waitMs === 0) return;
    throw new SandhavenError('resource_exhausted', 'There were too many attempts to sign in from here.', {
      hint: 'Wait retry_after_seconds, then try again.',
      retryable: true,
      retry_after_seconds: Math.ceil(waitMs / 1_000),
    });
  }
}
