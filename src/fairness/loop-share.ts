/**
 * The time of this thread's event loop, shared by those whose bytes cost it. Work of one source runs at once while
 * its turn of the loop has time left; more waits for later turns, in which the sources take theirs one after
 * another. So whatever a source sends holds up its own work, and everybody else's by one turn's share at most.
 */
import { setImmediate } from 'node:timers';
import { limits } from '../model/limits.ts';

export type Work = () => void;

/** By its name, or as the object that it is. */
export type Source = string | object;

export class LoopShare {
  readonly #turnMs: number;
  /** Work that waits, by source, in the order in which the sources have their next turn. */
  readonly #waiting = new Map<Source, Work[]>();
  #usedMs = 0;
  #working = false;
  #immediate: NodeJS.Immediate | null = null;

  /** @param turnMs 0: one piece of work a turn, for work whose cost shows only after it. */
  constructor(turnMs: number = limits.loop.turnMs) {
    this.#turnMs = turnMs;
  }

  /** Runs the work now or in a later turn, after all that this source has waiting. What it throws is the caller's, or the process's. */
  run(source: Source, work: Work): void {
    const queue = this.#waiting.get(source);
    if (queue) queue.push(work);
    else if (this.#usedMs < this.#turnMs && !this.#working) this.#measure(work);
    else this.#waiting.set(source, [work]);
    this.#immediate ??= setImmediate(this.#turn);
  }

  /** Pieces of work that wait now. */
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
      // What comes before the next turn has its own share of time.
      else this.#usedMs = 0;
    }
  };

  /** One piece of the source whose turn it is, which then goes to the end of the row. */
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

/** The one of this thread. */
export const loopShare = new LoopShare();
