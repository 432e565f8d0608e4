/** Rate of each network, counted in memory: who asks too often waits, and nobody else does. */
import { Buckets, type Rate } from '../../../fairness/rate.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/arrival.ts';

export class NetworkRate {
  readonly #buckets: Buckets;

  /** @param networks Networks that are counted before idle ones are forgotten. */
  constructor(rate: Rate, networks: number) {
    this.#buckets = new Buckets(rate, networks);
  }

  /** Counts one; returns the time to wait, in ms, above the rate. */
  take(network: string): number {
    return this.#buckets.take(network, performance.now());
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
}

/** Attempts to sign in, counted by network: whoever guesses waits, and nobody else does. */
export class Attempts {
  readonly #rate: NetworkRate;

  constructor(rate: Rate = limits.signIn.rate) {
    this.#rate = new NetworkRate(rate, limits.signIn.addresses);
  }

  /** Throws `resource_exhausted` with the time to wait. */
  count(address: string): void {
    this.#rate.count(networkOf(address), 'attempts to sign in');
  }
}
