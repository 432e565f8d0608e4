/** Admits connections: bounds their number, the number of unauthenticated ones, and the time until login. */
import type { Socket } from 'node:net';
import { Crowd } from '../../../fairness/crowd.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';

export class Admission {
  #inside = 0;
  /**
   * Unauthenticated clients by the network of their address. A full crowd replaces: clients of other networks
   * first, and a random one of a network's own, since many may share an address.
   */
  readonly #strangers = new Crowd({
    total: limits.ssh.strangers,
    perGroup: limits.ssh.strangersPerNetwork,
    replaces: true,
  });

  /** Returns null above the limit; otherwise a function to call on login. Until then the login timeout runs. */
  admit(socket: Socket): (() => void) | null {
    if (this.#inside >= limits.ssh.connections) return null;
    const leave = this.#strangers.enter(networkOf(socket.remoteAddress ?? ''), () => socket.destroy());
    if (!leave) return null;
    this.#inside++;
    const timer = setTimeout(() => socket.destroy(), limits.ssh.loginMs);
    const known = () => {
      clearTimeout(timer);
      leave();
    };
    socket.once('close', () => {
      known();
      this.#inside--;
    });
    return known;
  }
}
