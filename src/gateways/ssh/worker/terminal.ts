/** Bounds terminal sizes of clients: 0 for an unknown one, or any 32 bits. */
import type { TerminalSize } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';

const USUAL = { columns: 80, rows: 24 };

export function terminalSize(columns: number, rows: number): TerminalSize {
  const { terminalCells } = limits.ssh;
  return {
    columns: Math.min(columns || USUAL.columns, terminalCells),
    rows: Math.min(rows || USUAL.rows, terminalCells),
  };
}
