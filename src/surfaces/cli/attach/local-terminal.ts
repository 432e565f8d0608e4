/** The terminal that this process runs in: raw while it shows another one, and as before afterwards, whatever happens. */
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
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
      throw new SandhavenError('failed_precondition', 'Standard input and output are no terminal.', {
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
