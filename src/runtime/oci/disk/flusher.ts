/**
 * The process that keeps flushes of the host's disk short (`native/launcher/src/flusher.rs`): started with the runtime,
 * started again when it fails. Where the disk needs no such process, it ends by itself and stays ended.
 */
import type { Log } from '../../../control/ports/index.ts';
import { type RunningProgram, runProgram } from '../../programs/run-program.ts';

export interface Flusher {
  begin(): void;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

export interface FlusherDependencies {
  launcherPath: string;
  /** Path of a folder on the disk in which nothing changes. */
  folder: string;
  log: Log;
}

const RETRY_MS = 5_000;
const LAST_WORDS_CHARS = 1_000;

export function createFlusher({ launcherPath, folder, log }: FlusherDependencies): Flusher {
  let running: RunningProgram | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function begin(): void {
    let lastWords = '';
    running = runProgram(launcherPath, ['flush-early', folder], {
      env: {},
      onStdout() {},
      onStderr(piece) {
        lastWords = (lastWords + piece.toString()).slice(-LAST_WORDS_CHARS);
      },
    });
    running.ended
      .then(({ code, signal }) => (code === 0 ? null : lastWords.trim() || `ended with ${code ?? signal}`))
      .catch((error: Error) => error.message)
      .then((failure) => {
        if (closed || failure === null) return;
        log.warn('the disk is not flushed early: a sandbox that writes much may slow others', { failure });
        timer = setTimeout(begin, RETRY_MS).unref();
      });
  }

  return {
    begin,

    async close() {
      closed = true;
      clearTimeout(timer);
      running?.kill();
      await running?.ended.catch(() => {});
    },
  };
}
