/** Work over many things, in portions: at most so many at a time, or page after page. */

export async function mapBounded<T, R>(
  items: T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const entries = items.entries();
  // The workers share one iterator, so each item is taken once.
  const worker = async (): Promise<void> => {
    for (const [at, item] of entries) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/**
 * Reads rows page after page, so that many of them neither fill the memory nor hold the event loop.
 * Yields all rows in the order of their ids.
 * @param read Returns the first rows after the id, in the order of ids; none at the end.
 */
export async function* paged<T extends { id: string }>(
  read: (afterId: string) => Promise<T[]>,
): AsyncGenerator<T> {
  for (let page = await read(''); page.length > 0; page = await read(page.at(-1)?.id ?? '')) yield* page;
}

/** Semaphore: at most `width` pieces of work run at once, the others wait in order of arrival. */
interface Semaphore {
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
