/**
 * One connection to the database file: its settings, its transactions and its errors. SQLite runs in the calling
 * thread, so nothing else of this process runs between the statements of one function.
 *
 * Invariant: a write is on the disk when the promise of `write` resolves, and a failed transaction leaves nothing.
 * Others may read a write from its commit on; irreversible work on it (deleting a disk, for example) waits for
 * `settled`.
 */
import { closeSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../control/ports/index.ts';
import { threadModule } from '../../home.ts';
import { SandhavenError } from '../../model/errors.ts';

/** Longest wait of a statement for another process, such as a backup; the whole service waits with it. */
const BUSY_TIMEOUT_MS = 1_000;

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;

export class Database {
  readonly #connection: DatabaseSync;
  readonly #sync: WalSync;

  /** Opens the file, or creates it with mode 0600; the files that SQLite creates beside it take its mode. */
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

  /** Runs `work` on one consistent state of the database. */
  read<T>(work: () => T): T {
    return this.#transaction('BEGIN', work);
  }

  /** Runs `work` at once and commits it, or rolls it back. Resolves when the commit is on the disk. */
  async write<T>(work: () => T): Promise<T> {
    const result = this.#transaction('BEGIN IMMEDIATE', work);
    await this.#sync.settle();
    return result;
  }

  /** Resolves when every commit so far is on the disk. */
  settled(): Promise<void> {
    return this.#sync.settled();
  }

  /** As `write`, for callers that cannot wait; the next write settles this one too. */
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

/** Returns true when a row with this primary key, or these unique columns, already exists. */
export function isDuplicate(error: unknown, kind: 'key' | 'columns'): boolean {
  return resultCode(error) === (kind === 'key' ? SQLITE_CONSTRAINT_PRIMARYKEY : SQLITE_CONSTRAINT_UNIQUE);
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

/** Maps failures that a caller can act on to their own errors; every other failure of SQLite is a defect. */
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

/** Creates the file with mode 0600 (SQLite would use 0644). Never opens an existing one: closing it drops its locks. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

// Syncs SQLite's commits to the disk from the thread pool: a sandbox that keeps the disk busy delays a commit, and must
// not delay the event loop. One sync serves all commits before it.
//
// SQLite itself syncs only when the log restarts (synchronous = NORMAL). Its checkpoints sync too, so they run in a
// thread of their own (`checkpoint.ts`).

/** About 20 MB of log at the usual commit size. */
const SYNCS_BETWEEN_CHECKPOINTS = 1_024;

export class WalSync {
  readonly #file: string;
  readonly #log: Pick<Log, 'warn'> | undefined;
  #wal: FileHandle | null = null;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #sinceCheckpoint = 0;
  #checkpoint: Worker | null = null;

  /** @param file The database file; its write-ahead log lies beside it. */
  constructor(file: string, log?: Pick<Log, 'warn'>) {
    this.#file = file;
    this.#log = log;
  }

  /** Resolves once every commit before the call is on the disk. Rejects with the error of the disk. */
  settle(): Promise<void> {
    // A running sync may miss the last commit, which therefore waits for the next sync.
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#running = this.#next ?? Promise.resolve();
        this.#next = null;
        return this.#sync();
      });
    return this.#next;
  }

  /** As `settle`, without a sync when everything is on the disk. Retries after a failed sync. */
  settled(): Promise<void> {
    return this.#next ?? this.#running.catch(() => this.settle());
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#running).catch(() => {});
    await this.#checkpoint?.terminate();
    await this.#wal?.close();
    this.#wal = null;
  }

  async #sync(): Promise<void> {
    this.#wal ??= await openWal(this.#file);
    await this.#wal.datasync();
    this.#sinceCheckpoint += 1;
    if (this.#sinceCheckpoint >= SYNCS_BETWEEN_CHECKPOINTS && !this.#checkpoint) this.#startCheckpoint();
  }

  /** A later checkpoint makes up for a failed one. */
  #startCheckpoint(): void {
    this.#sinceCheckpoint = 0;
    const worker = new Worker(threadModule('store/sqlite/checkpoint'), { workerData: this.#file });
    this.#checkpoint = worker;
    worker.on('error', (error) => this.#log?.warn('the database was not checkpointed', { error }));
    worker.once('exit', () => {
      this.#checkpoint = null;
    });
    worker.unref();
  }
}

/** Syncs the folder, which holds the log's name. The log stays the same file while the database is open. */
async function openWal(file: string): Promise<FileHandle> {
  const folder = await open(dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
  return open(`${file}-wal`, 'r');
}
