/** Writes a large answer: each piece is made and written within this thread's share of a turn, answer after answer. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { loopShare } from '../../fairness/loop-share.ts';

/** Writes as fast as the client reads. Rejects when the signal is aborted first. */
export async function writePieces(
  writable: Writable,
  pieces: Iterable<string | Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const rest = pieces[Symbol.iterator]();
  /** Returns true after the last piece. */
  const writeNext = (): boolean | Promise<boolean> => {
    signal.throwIfAborted();
    const next = rest.next();
    if (next.done) return true;
    // The listener is added at once: `drain` may come before any promise continues.
    return !writable.write(next.value) && once(writable, 'drain', { signal }).then(() => false);
  };
  while (!(await inTurn(writable, writeNext)));
}

function inTurn<T>(source: object, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    loopShare.run(source, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}
