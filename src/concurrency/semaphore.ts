/** Semaphore: at most `width` pieces of work run at once, the others wait in order of arrival. */

export interface Semaphore {
  /** Rejects with the signal's reason when it is aborted during the wait. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createSemaphore(width: number): Semaphore {
  const waiting: (() => void)[] = [];
  let active = 0;

  async function enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (active < width) {
      active++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(signal?.reason);
      };
      const turn = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.push(turn);
    });
  }

  return {
    async run(work, signal) {
      await enter(signal);
      try {
        return await work();
      } finally {
        // The place passes to the next in line, so `active` stays as it is.
        const next = waiting.shift();
        if (next) next();
        else active--;
      }
    },
  };
}
