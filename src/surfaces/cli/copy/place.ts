/** Ends of a copy: a file here, a path in a sandbox, or standard input and output. */
import { Transform } from 'node:stream';
import { SandhavenError } from '../../../model/errors.ts';
import { usageError } from '../flags.ts';
import type { ProgressLine } from '../output.ts';

export type Place =
  | { kind: 'local'; path: string }
  | { kind: 'sandbox'; sandbox: string; path: string }
  | { kind: 'standard' };

const ways = 'Write LOCAL SANDBOX:PATH or SANDBOX:PATH LOCAL; - is standard input or output.';

/** A colon before any slash ends the name of a sandbox: `./a:b` is a file here. */
export function parsePlace(text: string): Place {
  if (text === '-') return { kind: 'standard' };
  const [, sandbox, path] = /^([^/:]+):(.*)$/s.exec(text) ?? [];
  if (sandbox !== undefined && path === '') {
    throw usageError(`'${text}' names no path.`, `Give one after the colon, such as ${sandbox}:/workspace/`);
  }
  if (sandbox !== undefined && path !== undefined) return { kind: 'sandbox', sandbox, path };
  if (text === '' || text.startsWith(':')) throw usageError(`'${text}' names no file and no sandbox.`, ways);
  return { kind: 'local', path: text };
}

export type Copy =
  | { direction: 'up'; from: Exclude<Place, { kind: 'sandbox' }>; to: Extract<Place, { kind: 'sandbox' }> }
  | { direction: 'down'; from: Extract<Place, { kind: 'sandbox' }>; to: Exclude<Place, { kind: 'sandbox' }> };

/** Rejects with `invalid_argument` unless exactly one end is in a sandbox. */
export function parseCopy(words: string[]): Copy {
  const [first, second, extra] = words;
  if (first === undefined || second === undefined)
    throw usageError('A copy needs a source and a target.', ways);
  if (extra !== undefined) throw usageError('One file is copied at a time.', ways);
  const [from, to] = [parsePlace(first), parsePlace(second)];
  if (from.kind !== 'sandbox' && to.kind === 'sandbox') return { direction: 'up', from, to };
  if (from.kind === 'sandbox' && to.kind !== 'sandbox') return { direction: 'down', from, to };
  if (from.kind === 'sandbox')
    throw usageError(
      'Both ends are in a sandbox.',
      'Copy through standard output: sandhaven cp a:x - | sandhaven cp - b:x',
    );
  throw usageError('Neither end is in a sandbox.', ways);
}

// Counts the bytes that pass, and shows them on a terminal.

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
