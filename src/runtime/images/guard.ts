/** Measures a helper while it works, and ends one that writes more than it may. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../model/limits.ts';

/**
 * Runs `work` and calls `measure` at intervals; when `measure` throws, aborts the work and rejects with that error.
 * A program can write on until the next measurement, so limits hold within half a second.
 */
export async function guarded<T>(
  signal: AbortSignal,
  measure: () => Promise<void>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const stopped = new AbortController();
  const watching = watch(measure, ended.signal).catch((error: unknown) => {
    stopped.abort(error);
  });
  try {
    return await work(AbortSignal.any([signal, stopped.signal]));
  } catch (error) {
    throw stopped.signal.aborted ? stopped.signal.reason : error;
  } finally {
    ended.abort();
    await watching;
  }
}

async function watch(measure: () => Promise<void>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await measure();
    await sleep(limits.image.measureIntervalMs, undefined, { signal: ended }).catch(() => {});
  }
}
