/** Makes one connection of two. */
import type { Duplex } from 'node:stream';

/** Passes bytes and the end of each direction; the failure of one side ends the other. */
export function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
