/** Pipes streams with backpressure, and destroys neither when one half ends. */
import type { Readable, Writable } from 'node:stream';

/**
 * Resolves when all data is taken, or no more will come; rejects when reading fails. A stream may emit its end while
 * its last chunk is still being taken.
 */
export function pour(from: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let taking = Promise.resolve();
    const finish = () => void taking.then(resolve, reject);
    from.on('data', (chunk: Buffer) => {
      from.pause();
      taking = take(chunk).then(() => void from.resume());
      taking.catch(reject);
    });
    from.once('end', finish);
    from.once('close', finish);
    from.once('error', reject);
  });
}

/** Passes on the end, too. Drops data after the writable has closed, as a shell's pipe does. */
export function feed(from: Readable, to: Writable): void {
  let open = true;
  const close = () => {
    open = false;
    from.resume();
  };
  to.once('close', close);
  to.on('error', close);
  to.on('drain', () => from.resume());
  from.on('data', (chunk: Buffer) => {
    if (open && !to.destroyed && !to.write(chunk)) from.pause();
  });
  from.once('end', () => {
    if (open && !to.destroyed) to.end();
  });
}
