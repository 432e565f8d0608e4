/**
 * One connection to the database file: its settings, its transactions, and what its failures mean. SQLite runs
 * in the thread that calls it, so nothing of this process comes between the statements of one function.
 *
 * Invariant: a write is on the disk when the promise of `write` resolves, and has left nothing when the transaction
 * failed. Others may read it from when it was committed; who acts on it for good (drops a disk, say) waits until it is
 * `settled`.
 */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Log } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { WalSync } from './wal-sync.ts';

/** What SQLite stores and node:sqlite binds. */
export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, unknown>;

/** How long a statement waits for another process, a backup say; the whole service waits with it. */
const BUSY_TIMEOUT_MS = 1_000;

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;

export class Database {
  readonly #connection: DatabaseSync;
  readonly #sync: WalSync;

  /** Opens the file, or creates it with mode 0600; the files that SQLite puts beside it take its mode. */
  constructor(file: string, log?: Pick<Log, 'warn'>) {
    createPrivately(file);
    this.#sync = new WalSync(file, log);
    this.#connection = new DatabaseSync(file, {
      timeout: BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: true,
    });
    try {
      this.#connection.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
         PRAGMA trusted_schema = OFF;`,
      );
    } catch (error) {
      this.#closeConnection();
      throw explainedAtOpening(error);
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Runs `work` on one state of the database. */
  read<T>(work: () => T): T {
    return this.#transaction('BEGIN', work);
  }

  /** Runs `work` at once and commits it, or undoes all of it. Resolves when it is on the disk. */
  async write<T>(work: () => T): Promise<T> {
    const result = this.#transaction('BEGIN IMMEDIATE', work);
    await this.#sync.settle();
    return result;
  }

  /** Resolves when all that anybody has committed is on the disk. */
  settled(): Promise<void> {
    return this.#sync.settled();
  }

  /** As `write`, for who cannot wait; the next write settles this one too. */
  writeUnsettled<T>(work: () => T): T {
    return this.#transaction('BEGIN IMMEDIATE', work);
  }

  async close(): Promise<void> {
    await this.#sync.close();
    this.#closeConnection();
  }

  #closeConnection(): void {
    if (this.#connection.isOpen) this.#connection.close();
  }

  #transaction<T>(begin: string, work: () => T): T {
    try {
      this.#connection.exec(begin);
      const result = work();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw explained(error);
    }
  }
}

/** A row of this primary key, or these unique columns, is there already. */
export function isDuplicate(error: unknown, kind: 'key' | 'columns'): boolean {
  return resultCode(error) === (kind === 'key' ? SQLITE_CONSTRAINT_PRIMARYKEY : SQLITE_CONSTRAINT_UNIQUE);
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

/** What a caller can act on gets its own error; every other failure of SQLite is a defect. */
function explained(error: unknown): unknown {
  switch (primaryCode(error)) {
    case SQLITE_BUSY:
      return new SandhavenError(
        'unavailable',
        'The database of the service is busy.',
        { hint: 'Try again in a moment.' },
        error,
      );
    case SQLITE_FULL:
      return new SandhavenError(
        'resource_exhausted',
        'The disk that holds the database of the service is full.',
        { hint: 'Free space on the host of the service, then try again.', retryable: true },
        error,
      );
    default:
      return error;
  }
}

function explainedAtOpening(error: unknown): unknown {
  if (primaryCode(error) !== SQLITE_NOTADB) return explained(error);
  return new SandhavenError(
    'failed_precondition',
    'The database file of the service is damaged.',
    { hint: 'Restore sandhaven.db from a backup.' },
    error,
  );
}

function primaryCode(error: unknown): number | null {
  const code = resultCode(error);
  return code === null ? null : code & 0xff;
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode : null;
}

/** SQLite would create it with mode 0644. A file that is there is not opened: closing it would drop its locks. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
