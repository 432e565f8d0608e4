/**
 * Open cursors: where each goes on. Some live in a backend of PostgreSQL, which is then theirs alone until they end.
 *
 * Invariant: a cursor is served by one command at a time, and whoever takes it out of the map lets its backend go.
 */
import type { Backend } from './database.ts';
import { Fault } from './faults.ts';
import { limits } from './limits.ts';

export interface Cursor {
  id: bigint;
  role: string;
  continuation: Buffer;
  backend: Backend | null;
  /** Of the time that its client allows the server for all of its pages; null when there is no such limit. */
  timeLeftMs: number | null;
  /** The connection that used it last. */
  connectionId: number;
  isBusy: boolean;
  /** When it is given up, unless it is used before. */
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

  /** For one command, which calls `done` afterwards. */
  use(id: bigint, role: string, connectionId: number): Cursor {
    const cursor = this.#open.get(id);
    if (!cursor) throw notFound(id);
    if (cursor.role !== role) throw new Fault('Unauthorized', `cursor ${id} was opened by another user`);
    if (cursor.isBusy) throw new Fault('CursorInUse', `cursor ${id} is in use`);
    cursor.isBusy = true;
    cursor.connectionId = connectionId;
    return cursor;
  }

  /** @param next Where it goes on. A backend whose cursor was read to its end is as good as new. */
  done(cursor: Cursor, next: Buffer | 'end' | 'failed'): void {
    cursor.isBusy = false;
    cursor.deadlineMs = Date.now() + limits.cursorIdleMs;
    const isOpen = this.#open.get(cursor.id) === cursor;
    if (isOpen && typeof next === 'object') cursor.continuation = next;
    else this.#close(cursor, next === 'end');
  }

  /** @returns False for one that is not there, or is another user's. */
  kill(id: bigint, role: string): boolean {
    const cursor = this.#open.get(id);
    if (!cursor || cursor.role !== role) return false;
    this.#close(cursor);
    return true;
  }

  /** A client that is there still may go on with them, for a moment, on another connection. */
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

  /** The backend of one in use is let go by the command that uses it, by `done`. */
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
