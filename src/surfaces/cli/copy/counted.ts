/** Counts the bytes that pass, and shows them on a terminal. */
import { Transform } from 'node:stream';
import { SandhavenError } from '../../../model/errors.ts';
import type { ProgressLine } from '../output.ts';

const SHOWN_EVERY_MS = 100;

export interface Counted {
  /** Passes every byte on. */
  stream: Transform;
  bytes(): number;
  clear(): void;
}

/** @param total Bytes in all; undefined where nobody knows. */
export function counted(about: string, total: number | undefined, line: ProgressLine): Counted {
  let bytes = 0;
  let shownAt = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const now = performance.now();
      if (now - shownAt >= SHOWN_EVERY_MS) {
        shownAt = now;
        const message = `${about} ${inWords(bytes)}`;
        line.show(total ? { message, done: bytes, total } : { message });
      }
      done(null, chunk);
    },
    flush(done) {
      if (total === undefined || bytes === total) return done();
      const detail = `The file became shorter while it was copied: ${bytes} of ${total} bytes came.`;
      done(
        new SandhavenError('unavailable', detail, { hint: 'Copy it again once no program writes to it.' }),
      );
    },
  });
  return { stream, bytes: () => bytes, clear: line.clear };
}

export function inWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  return `${(bytes / 1_000 ** step).toFixed(1)} ${units[step - 1]}`;
}
