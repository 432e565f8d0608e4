/** Work over many things, in portions: at most so many at a time, page after page, or one in each turn of the event loop. */
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';

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

/**
 * Loads each of these modules in a turn of its own: a large library at once holds the event loop for a tenth of a second. An
 * import finds them loaded, as long as it means the same files as `require`. Rejects when one is missing.
 * @param from URL of a module that could import them.
 * @param modules Those first that others need.
 */
export async function loadInTurns(from: string, modules: readonly string[]): Promise<void> {
  const load = createRequire(from);
  for (const name of modules) {
    load(name);
    await nextTurn();
  }
}
