/** Attempts to sign in, counted by network: whoever guesses waits, and nobody else does. */
import type { Rate } from '../../../fairness/rate.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';
import { NetworkRate } from './network-rate.ts';

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
