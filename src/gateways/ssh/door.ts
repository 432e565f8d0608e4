/** Who may come in at all: how many, how many of them unknown, and for how long they may stay that. */
import type { Socket } from 'node:net';
import { limits } from '../../model/limits.ts';

export class Door {
  #inside = 0;
  #strangers = 0;
  /** Strangers by address. */
  readonly #byAddress = new Map<string, number>();

  /**
   * Null when it is one too many. Else what to call when the client has logged in; until then its time is
   * short.
   */
  admit(socket: Socket): (() => void) | null {
    const { connections, strangers, strangersPerAddress, loginMs } = limits.ssh;
    const address = socket.remoteAddress ?? 'gone';
    const there = this.#byAddress.get(address) ?? 0;
    if (this.#inside >= connections || this.#strangers >= strangers || there >= strangersPerAddress)
      return null;
    this.#inside++;
    this.#strangers++;
    this.#byAddress.set(address, there + 1);
    const timer = setTimeout(() => socket.destroy(), loginMs);
    let stranger = true;
    const known = () => {
      if (!stranger) return;
      stranger = false;
      clearTimeout(timer);
      this.#strangers--;
      const left = (this.#byAddress.get(address) ?? 1) - 1;
      if (left > 0) this.#byAddress.set(address, left);
      else this.#byAddress.delete(address);
    };
    socket.once('close', () => {
      known();
      this.#inside--;
    });
    return known;
  }
}
