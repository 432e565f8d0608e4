/** Messages of a terminal's WebSocket, as docs/terminals.md has them. */

import type { Problem } from '@sandhaven/sdk';
import { actingTeam } from '../../../service/acting-team.ts';

export type Note =
  | {
      type: 'ready';
      terminal: string;
      created: boolean;
      cols: number;
      rows: number;
      scrollback_bytes: number;
    }
  | { type: 'size'; cols: number; rows: number }
  | { type: 'skipped'; bytes: number }
  | { type: 'exit'; code: number; signal: string | null }
  | ({ type: 'error' } & Omit<Problem, 'type'>);

/** Bytes that the service sends before the page reports shown ones. */
export const WINDOW_BYTES = 256 * 1024;
/** Most bytes of one message of the page; a longer paste takes several. */
const MESSAGE_BYTES = 64 * 1024;

export interface Target {
  sandbox: string;
  terminal: string;
  /** Of a terminal that is made; the sandbox's where it is empty. */
  user: string;
}

/** @param create False: opens existing terminals only. */
export function pathOf(
  { sandbox, terminal, user }: Target,
  { cols, rows }: { cols: number; rows: number },
  create: boolean,
): string {
  const query = new URLSearchParams({
    ...{ terminal, cols: String(cols), rows: String(rows) },
    ...{ create: String(create), window: String(WINDOW_BYTES) },
  });
  if (create && user !== '') query.set('user', user);
  // A browser lets no script give a WebSocket headers.
  const team = actingTeam();
  if (team !== null) query.set('team', team);
  return `/v1/sandboxes/${encodeURIComponent(sandbox)}/terminal?${query.toString()}`;
}

export function addressOf(path: string): string {
  return location.origin.replace(/^http/, 'ws') + path;
}

export function inPieces(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += MESSAGE_BYTES)
    pieces.push(bytes.subarray(at, at + MESSAGE_BYTES));
  return pieces;
}
