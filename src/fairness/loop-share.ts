/**
 * Time of this thread's event loop, shared by the sources of bytes that cost it. Work of one source runs at once while
 * its turn of the loop has time left; more waits for later turns, in which the sources take turns. So each source
 * delays its own work, and all others by one turn's share at most.
 */
import { setImmediate } from 'node:timers';
import { limits } from '../model/limits.ts';

export type Work = () => void;

/** Source by its name, or by its object. */
export type Source = string | object;

export class LoopShare {
  readonly #turnMs: number;
  /** Waiting work by source, in the order of the sources' next turns. */
  readonly #waiting = new Map<Source, Work[]>();
  #usedMs = 0;
  #working = false;
  #immediate: NodeJS.Immediate | null = null;

  /** @param turnMs 0: one piece of work a turn, for work whose cost shows only after it. */
  constructor(turnMs: number = limits.loop.turnMs) {
    this.#turnMs = turnMs;
  }

  /**
   * Runs the work now or in a later turn, after all waiting work of this source. Its errors are the caller's now, and
   * uncaught later.
   */
  run(source: Source, work: Work): void {
    const queue = this.#waiting.get(source);
    if (queue) queue.push(work);
    else if (this.#usedMs < this.#turnMs && !this.#working) this.#measure(work);
    else this.#waiting.set(source, [work]);
    this.#immediate ??= setImmediate(this.#turn);
  }

  /** Number of waiting pieces of work. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  readonly #turn = (): void => {
    this.#immediate = null;
    this.#usedMs = 0;
    try {
      do this.#next();
      while (this.#usedMs < this.#turnMs && this.#waiting.size > 0);
    } finally {
      if (this.#waiting.size > 0) this.#immediate ??= setImmediate(this.#turn);
      // Work before the next turn has its own share of time.
      else this.#usedMs = 0;
    }
  };

  /** Runs one piece of the next source, which then moves to the end of the row. */
  #next(): void {
    for (const [source, queue] of this.#waiting) {
      const work = queue.shift();
      this.#waiting.delete(source);
      if (queue.length > 0) this.#waiting.set(source, queue);
      if (work) this.#measure(work);
      return;
    }
  }

  #measure(work: Work): void {
    const begun = performance.now();
    this.#working = true;
    try {
      work();
    } finally {
      this.#working = false;
      this.#usedMs += performance.now() - begun;
    }
  }
}

/** The share of this thread. */
export const loopShare = new LoopShare();
