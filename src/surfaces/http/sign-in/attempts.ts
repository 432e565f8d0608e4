/** Attempts to sign in, counted by network: whoever guesses waits, and nobody else does. */
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';
import { NetworkRate } from './network-rate.ts';

export class Attempts {
  readonly #rate = new NetworkRate(limits.signIn.rate, limits.signIn.addresses);

  /** Throws `resource_exhausted` with the time to wait. */
  count(address: string): void {
    this.#rate.count(networkOf(address), 'attempts to sign in');
  }
}
