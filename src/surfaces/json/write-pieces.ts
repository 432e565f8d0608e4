/** A large answer on its way: each piece is made and written within this thread's share of a turn, answer after answer. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { loopShare } from '../../fairness/loop-share.ts';

/** As fast as the client takes them. Fails when the signal is aborted before all is taken. */
export async function writePieces(
  writable: Writable,
  pieces: Iterable<string | Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const rest = pieces[Symbol.iterator]();
  /** Whether that was the last. */
  const writeNext = (): boolean | Promise<boolean> => {
    signal.throwIfAborted();
    const next = rest.next();
    if (next.done) return true;
    // Listens at once: the client may take it before any promise goes on.
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
