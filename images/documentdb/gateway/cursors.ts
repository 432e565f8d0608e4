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

  add(cursor: Pick<Cursor, 'id' | 'role' | 'continuation' | 'backend' | 'connectionId'>): void {
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

  /** @param continuation Where it goes on; null when it is at its end or failed. */
  done(cursor: Cursor, continuation: Buffer | null): void {
    cursor.isBusy = false;
    cursor.deadlineMs = Date.now() + limits.cursorIdleMs;
    if (continuation === null || this.#open.get(cursor.id) !== cursor) this.#close(cursor);
    else cursor.continuation = continuation;
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
  #close(cursor: Cursor): void {
    this.#open.delete(cursor.id);
    if (cursor.isBusy) return;
    cursor.backend?.release({ discard: true });
    cursor.backend = null;
  }
}

function notFound(id: bigint): Fault {
  return new Fault('CursorNotFound', `cursor id ${id} not found`);
}
