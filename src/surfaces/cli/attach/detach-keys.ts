/** Keys that detach from a terminal: a sequence, looked for in what is typed. */
import { limits } from '../../../model/limits.ts';
import { usageError } from '../flags.ts';

const CONTROL = 0x1f;

/** Parses `ctrl-p,ctrl-q`; `none` gives an empty sequence, which nothing matches. */
export function parseDetachKeys(text: string): Buffer {
  if (text === 'none') return Buffer.alloc(0);
  const keys = text.split(',').map(byteOf);
  if (keys.length <= limits.terminal.detachKeys) return Buffer.from(keys);
  throw usageError(`More than ${limits.terminal.detachKeys} detach keys are given.`, HINT);
}

const HINT = 'Write keys with commas between them, such as ctrl-p,ctrl-q or ctrl-], or none.';

function byteOf(key: string): number {
  const [, letter] = /^ctrl-([a-z@[\\\]^_])$/i.exec(key) ?? [];
  if (letter !== undefined) return letter.toUpperCase().charCodeAt(0) & CONTROL;
  if (/^[!-~]$/.test(key)) return key.charCodeAt(0);
  throw usageError(`'${key}' is no key to detach with.`, HINT);
}

export class DetachKeys {
  readonly #keys: Buffer;
  /** Keys of the sequence that have been typed; they are held back until it is clear what they begin. */
  #matched = 0;

  constructor(keys: Buffer) {
    this.#keys = keys;
  }

  /** Returns what goes to the terminal; `detach` at the end of the sequence, behind which nothing counts. */
  typed(bytes: Buffer): { pass: Buffer; detach: boolean } {
    const pass: number[] = [];
    for (const byte of bytes) {
      if (byte !== this.#keys[this.#matched]) {
        pass.push(...this.#keys.subarray(0, this.#matched));
        this.#matched = 0;
      }
      if (byte === this.#keys[this.#matched]) this.#matched += 1;
      else pass.push(byte);
      if (this.#matched > 0 && this.#matched === this.#keys.length) {
        return { pass: Buffer.from(pass), detach: true };
      }
    }
    return { pass: Buffer.from(pass), detach: false };
  }
}
