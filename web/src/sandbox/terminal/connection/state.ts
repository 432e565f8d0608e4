/** States of a connection to a terminal, and the text of each. */
import { formatBytes } from '../../../format/quantity.ts';

export type ConnectionState =
  | { name: 'connecting' }
  | { name: 'open' }
  /** The terminal keeps running; the next attempt comes after this time. */
  | { name: 'lost'; waitMs: number }
  | { name: 'ended'; code: number | null; signal: string | null }
  | { name: 'refused'; error: unknown };

/** Bytes that the service keeps of a terminal's output. */
const KEPT_BYTES = 256 * 1024;

export function takenUpAgain(scrollbackBytes: number): string {
  return scrollbackBytes < KEPT_BYTES
    ? 'Reconnected: no output is missing.'
    : `Reconnected: the last ${formatBytes(KEPT_BYTES)} are shown, earlier output is skipped.`;
}

export function skipped(bytes: number): string {
  return `${formatBytes(bytes)} of output are skipped: this page could not keep up.`;
}

export function endOf({ code, signal }: { code: number | null; signal: string | null }): string {
  if (signal !== null) return `The shell was ended by ${signal}.`;
  return code === null ? 'This terminal has ended meanwhile.' : `The shell has ended with status ${code}.`;
}
