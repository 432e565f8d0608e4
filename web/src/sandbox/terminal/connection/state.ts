/** States of a connection to a terminal, and what each is called on the screen. */
import { formatBytes } from '../../../format/quantity.ts';

export type ConnectionState =
  | { name: 'connecting' }
  | { name: 'open' }
  /** The terminal goes on; the next attempt is after so long. */
  | { name: 'lost'; waitMs: number }
  | { name: 'ended'; code: number | null; signal: string | null }
  | { name: 'refused'; error: unknown };

/** The service keeps so much of what a terminal printed. */
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
