/**
 * Trash: folders of deleted sandboxes, on their way out. A deletion moves the folder here, which takes no time; the kernel needs
 * tens of milliseconds to free a disk's blocks, and seconds for a large one.
 *
 * Invariants: what lies here belongs to no sandbox and may go at any moment. It counts as used space, as all files do; so
 * it is emptied without waiting for quiet, by a process that lets others go first.
 */
import { readdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Log } from '../../../control/ports/index.ts';
import { randomText } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { describeFailure } from '../host/failures.ts';
import { isMissing, unlessMissing } from '../host/files.ts';
import type { Helpers } from '../host/helper.ts';

export interface Trash {
  /** Begins to remove what earlier boots left. */
  begin(): void;
  /** Moves the folder here; a missing one is no error. It is removed soon. */
  take(folder: string): Promise<void>;
  /** Resolves when nothing works on the trash any more. What is left goes with the next boot. */
  close(): Promise<void>;
}

export interface TrashDependencies {
  /** On the file system of what is taken. */
  folder: string;
  helpers: Pick<Helpers, 'run'>;
  log: Pick<Log, 'warn'>;
}

/** Deletions that come together are over by then. */
const DELAY_MS = 200;
/** After a failure. */
const RETRY_MS = 30_000;
/** Folders that one process removes. */
const AT_ONCE = 64;
const NICENESS = 19;

export function createTrash({ folder, helpers, log }: TrashDependencies): Trash {
  const closing = new AbortController();
  let emptying: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  /** Empties the trash once more after work in progress: that has listed the folder already. */
  function emptyIn(delayMs: number): void {
    if (closing.signal.aborted || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (emptying) return emptyIn(DELAY_MS);
      emptying = empty()
        .catch((error: unknown) => {
          if (closing.signal.aborted) return;
          log.warn('files of deleted sandboxes could not be removed', { reason: describeFailure(error) });
          emptyIn(RETRY_MS);
        })
        .finally(() => {
          emptying = null;
        });
    }, delayMs).unref();
  }

  async function empty(): Promise<void> {
    const { signal } = closing;
    for (;;) {
      const paths = ((await unlessMissing(readdir(folder))) ?? []).map((name) => join(folder, name));
      if (paths.length === 0 || signal.aborted) return;
      const options = { timeoutMs: limits.diskHelperTimeoutMs, nice: NICENESS, signal };
      await helpers.run('rm', ['-rf', '--', ...paths.slice(0, AT_ONCE)], options);
    }
  }

  return {
    begin: () => emptyIn(0),

    async take(taken) {
      const place = join(folder, `${basename(taken)}-${randomText(12)}`);
      try {
        await rename(taken, place);
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
      emptyIn(DELAY_MS);
    },

    async close() {
      closing.abort();
      clearTimeout(timer);
      await emptying;
    },
  };
}
