/** Waits for the client of an answer that is written piece by piece. */
import type { ServerResponse } from 'node:http';

/** One promise for all that wait, however many pieces are on their way. */
const waits = new WeakMap<ServerResponse, Promise<void>>();

/** Resolves when the client has read on, or has left; undefined where it has room. */
export function readOn(raw: ServerResponse): Promise<void> | undefined {
  if (!raw.writableNeedDrain || raw.destroyed) return undefined;
  const waiting = waits.get(raw);
  if (waiting) return waiting;
  const wait = new Promise<void>((resolve) => {
    const over = () => {
      raw.off('drain', over).off('close', over);
      waits.delete(raw);
      resolve();
    };
    // Nobody waits for a client that has left.
    raw.on('drain', over).on('close', over);
  });
  waits.set(raw, wait);
  return wait;
}
