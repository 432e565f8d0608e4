/** Makes one connection of two. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Passes bytes and the end of each direction. A reset of one side resets the other, as in a network: a destroyed socket
 * would look like an end, after which a client may wait for ever.
 */
export function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => (to instanceof Socket ? to.resetAndDestroy() : to.destroy()));
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
