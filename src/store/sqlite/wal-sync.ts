/**
 * Syncs SQLite's commits to the disk from the thread pool: a sandbox that keeps the disk busy delays a commit, and must
 * not delay the event loop. One sync serves all commits before it.
 *
 * SQLite itself syncs only when the log restarts (synchronous = NORMAL). Its checkpoints sync too, so they run in a
 * thread of their own (`checkpoint.ts`).
 */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../control/ports/index.ts';
import { threadModule } from '../../home.ts';

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
