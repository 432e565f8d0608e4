/** Who may come in at all: how many, how many of them unknown, and for how long they may stay that. */
import type { Socket } from 'node:net';
import { Crowd } from '../../../fairness/crowd.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';

export class Door {
  #inside = 0;
  /**
   * Strangers by the network of their address. Somebody who fills it makes room for others again: those of other
   * networks first, and one by chance of a network's own, since many may share an address.
   */
  readonly #strangers = new Crowd({
    total: limits.ssh.strangers,
    perGroup: limits.ssh.strangersPerNetwork,
    replaces: true,
  });

  /**
   * Null when it is one too many. Else what to call when the client has logged in; until then its time is
   * short.
   */
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
