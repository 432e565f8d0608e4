/**
 * Puts what SQLite has committed on the disk, from the thread pool: a sandbox that keeps the disk busy makes a commit wait,
 * and the event loop must not wait with it. One sync serves all commits that came before it.
 *
 * SQLite itself syncs only where the log begins anew (synchronous = NORMAL). Its checkpoints sync too, and so they are
 * made in a thread of their own (`checkpoint.ts`).
 */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../control/ports/index.ts';

/** About 20 MB of log at the usual size of a commit. */
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

  /** Resolves once all that was committed before the call is on the disk. Fails as the disk does. */
  settle(): Promise<void> {
    // A sync that has begun may miss the last commit: that one waits for the next.
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#running = this.#next ?? Promise.resolve();
        this.#next = null;
        return this.#sync();
      });
    return this.#next;
  }

  /** As `settle`, without a sync where all is on the disk. After a sync that failed it makes another one. */
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

  /** One that fails is made up for by a later one. */
  #startCheckpoint(): void {
    this.#sinceCheckpoint = 0;
    const worker = new Worker(new URL('./checkpoint.ts', import.meta.url), { workerData: this.#file });
    this.#checkpoint = worker;
    worker.on('error', (error) => this.#log?.warn('the database was not checkpointed', { error }));
    worker.once('exit', () => {
      this.#checkpoint = null;
    });
    worker.unref();
  }
}

/** The log's name is on the disk once its folder is. It stays the same file for as long as the database is open. */
async function openWal(file: string): Promise<FileHandle> {
  const folder = await open(dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
  return open(`${file}-wal`, 'r');
}
