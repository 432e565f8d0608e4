/**
 * Queue of work that holds the thread: one piece at a time, for each owner in turn, then a pause of equal length. An
 * owner with much work takes half of the thread's time at most, and other work runs between any two pieces.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../model/limits.ts';
import { FairQueue } from './fair-queue.ts';

export class LongWork {
  readonly #turns: FairQueue;

  /** @param what Continues "1 …": `large bodies are being read`. */
  constructor(what: string) {
    this.#turns = new FairQueue({ ...limits.shares.longWork, what });
  }

  /**
   * Rejects as the work does; with `resource_exhausted` after too long a wait; with the signal's reason when it is
   * aborted before the work begins.
   */
  async run<T>(owner: string, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const done = await this.#turns.take(owner, 1, signal);
    await setImmediate();
    const begun = performance.now();
    try {
      return await work();
    } finally {
      void sleep(performance.now() - begun).then(() => done());
    }
  }
}
