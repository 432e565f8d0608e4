/**
 * The terminal that this process runs in: raw while it shows another one, and as before afterwards, whatever happens.
 * Keys that detach are looked for in what is typed.
 */
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { usageError } from '../flags.ts';
import type { CliIo } from '../io.ts';

/**
 * Takes back what a program on the whole screen has set: screen, keys, mouse, pasting, cursor, margins, colours. The
 * number for the screen is the one that moves no cursor.
 */
const RESET =
  '\x18\x1b[?1047l\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[!p\x1b[m';

export class LocalTerminal {
  readonly #io: Pick<CliIo, 'stdin' | 'stdout'>;
  #isRaw = false;
  readonly #restore = () => this.restore();

  /** Throws `failed_precondition` where standard input and output are no terminal. */
  constructor(io: Pick<CliIo, 'stdin' | 'stdout'>) {
    if (!io.stdin.isTTY || !io.stdout.isTTY || !io.stdin.setRawMode) {
      throw new SandhavenError('failed_precondition', 'Standard input and output are not a terminal.', {
        hint: 'Run it in a terminal; for programs there is `sandhaven call Sandbox.RunCommand`.',
      });
    }
    this.#io = io;
  }

  /** Null where the terminal does not know it. */
  get size(): { columns: number; rows: number } | null {
    const { columns, rows } = this.#io.stdout;
    if (!columns || !rows) return null;
    const { terminal } = limits;
    return { columns: Math.min(columns, terminal.columns.max), rows: Math.min(rows, terminal.rows.max) };
  }

  makeRaw(): void {
    this.#isRaw = true;
    // Also when this process ends by an error of its own.
    process.once('exit', this.#restore);
    this.#io.stdin.setRawMode?.(true);
  }

  restore(): void {
    if (!this.#isRaw) return;
    this.#isRaw = false;
    process.off('exit', this.#restore);
    this.#io.stdin.setRawMode?.(false);
    this.#io.stdin.pause();
    this.#io.stdout.write(RESET);
  }
}

const CONTROL = 0x1f;

/**
 * Keys that detach from a terminal: a sequence, looked for in what is typed. Parses `ctrl-p,ctrl-q`; `none` gives an
 * empty sequence, which nothing matches.
 */
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
  throw usageError(`'${key}' cannot be a detach key.`, HINT);
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
