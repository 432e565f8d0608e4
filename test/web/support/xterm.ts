/** xterm without a screen, and the page's guard of it. Both need the packages of the page, which `make web` installs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '..', '..', '..', 'web');
const library = join(web, 'node_modules', '@xterm', 'xterm', 'lib', 'xterm.mjs');
const emulator = join(web, 'src', 'sandbox', 'terminal', 'emulator');

export const hasXterm = existsSync(library);

/** The part of xterm that tests use; its types are among the packages. */
export interface Headless {
  cols: number;
  rows: number;
  buffer: {
    active: { getLine(row: number): { translateToString(trim: boolean): string } | undefined };
    onBufferChange(listener: () => void): void;
  };
  write(text: string, done: () => void): void;
  onData(listener: (data: string) => void): void;
  onTitleChange(listener: (title: string) => void): void;
}

export async function plainTerminal(): Promise<Headless> {
  const { Terminal } = (await import(library)) as { Terminal: new (options: object) => Headless };
  return new Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
}

export async function guardedTerminal(): Promise<Headless> {
  const terminal = await plainTerminal();
  const { guard } = (await import(join(emulator, 'guard.ts'))) as { guard(terminal: Headless): void };
  const { boundMarks, widthsOf } = (await import(join(emulator, 'marks.ts'))) as {
    boundMarks(terminal: Headless, widths: unknown): void;
    widthsOf(terminal: Headless): unknown;
  };
  guard(terminal);
  boundMarks(terminal, widthsOf(terminal));
  return terminal;
}
