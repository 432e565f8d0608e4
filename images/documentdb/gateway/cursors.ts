/**
 * Keeps the continuations of open cursors. Some live in a PostgreSQL backend, which they own until they end.
 *
 * Invariant: a cursor is served by one command at a time, and the remover of a cursor from the map releases its
 * backend.
 */
import type { Backend } from './database.ts';
import { Fault } from './faults.ts';
import { limits } from './limits.ts';

export interface Cursor {
  id: bigint;
  role: string;
  continuation: Buffer;
  backend: Backend | null;
  /** Rest of the client's time limit for the server over all pages; null without such a limit. */
  timeLeftMs: number | null;
  /** Connection of its last use. */
  connectionId: number;
  isBusy: boolean;
  /** Expiry, unless it is used before. */
  deadlineMs: number;
}

export class Cursors {
  readonly #open = new Map<bigint, Cursor>();
  readonly #sweep: NodeJS.Timeout;

  constructor() {
    this.#sweep = setInterval(() => this.#closeExpired(), limits.cursorSweepMs);
    this.#sweep.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  add(
    cursor: Pick<Cursor, 'id' | 'role' | 'continuation' | 'backend' | 'connectionId' | 'timeLeftMs'>,
  ): void {
    const held = [...this.#open.values()].filter(({ backend }) => backend).length;
    if (this.#open.size >= limits.cursors || (cursor.backend && held >= limits.heldBackends)) {
      throw new Fault(
        'ExceededMemoryLimit',
        'too many cursors are open; close some, or read them to their ends',
      );
    }
    this.#open.set(cursor.id, { ...cursor, isBusy: false, deadlineMs: Date.now() + limits.cursorIdleMs });
  }

  /** Takes it for one command, which calls `done` afterwards. */
  use(id: bigint, role: string, connectionId: number): Cursor {
    const cursor = this.#open.get(id);
    if (!cursor) throw notFound(id);
    if (cursor.role !== role) throw new Fault('Unauthorized', `cursor ${id} was opened by another user`);
    if (cursor.isBusy) throw new Fault('CursorInUse', `cursor ${id} is in use`);
    cursor.isBusy = true;
    cursor.connectionId = connectionId;
    return cursor;
  }

  /** @param next Continuation. A backend whose cursor was read to its end can be reused. */
  done(cursor: Cursor, next: Buffer | 'end' | 'failed'): void {
    cursor.isBusy = false;
    cursor.deadlineMs = Date.now() + limits.cursorIdleMs;
    const isOpen = this.#open.get(cursor.id) === cursor;
    if (isOpen && typeof next === 'object') cursor.continuation = next;
    else this.#close(cursor, next === 'end');
  }

  /** @returns false for a missing one, or another user's. */
  kill(id: bigint, role: string): boolean {
    const cursor = this.#open.get(id);
    if (!cursor || cursor.role !== role) return false;
    this.#close(cursor);
    return true;
  }

  /** A client still present may continue them, for a moment, on another connection. */
  orphan(connectionId: number): void {
    const deadlineMs = Date.now() + limits.orphanIdleMs;
    for (const cursor of this.#open.values()) {
      if (cursor.connectionId === connectionId) cursor.deadlineMs = Math.min(cursor.deadlineMs, deadlineMs);
    }
  }

  closeAll(): void {
    clearInterval(this.#sweep);
    for (const cursor of this.#open.values()) this.#close(cursor);
  }

  #closeExpired(): void {
    const now = Date.now();
    for (const cursor of this.#open.values()) {
      if (!cursor.isBusy && cursor.deadlineMs <= now) this.#close(cursor);
    }
  }

  /** The command that uses a busy cursor releases its backend, by `done`. */
  #close(cursor: Cursor, isRead = false): void {
    this.#open.delete(cursor.id);
    if (cursor.isBusy) return;
    cursor.backend?.release({ discard: !isRead });
    cursor.backend = null;
  }
}

function notFound(id: bigint): Fault {
  return new Fault('CursorNotFound', `cursor id ${id} not found`);
}
