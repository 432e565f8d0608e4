/**
 * Patience with work of which less and less is left: on a busy host it may take any time in all, so that only a long time in which
 * nothing ends says that it is stuck. What comes anew in place of what has ended, as of a fork bomb, is no progress.
 */

const REPORT_MS = 5_000;

export class Patience {
  readonly #stuckMs: number;
  readonly #onWait: (left: string) => void;
  #least = Number.POSITIVE_INFINITY;
  #since = performance.now();
  #reportedAt = performance.now();

  /**
   * @param stuckMs Time without an end.
   * @param onWait Called every few seconds.
   */
  constructor(stuckMs: number, onWait: (left: string) => void = () => {}) {
    this.#stuckMs = stuckMs;
    this.#onWait = onWait;
  }

  /**
   * Returns true once no less than so much has been left for too long.
   * @param shown What is left, for people.
   */
  isOver(left: number, shown = ''): boolean {
    const now = performance.now();
    if (left < this.#least) {
      this.#least = left;
      this.#since = now;
    }
    if (now - this.#reportedAt >= REPORT_MS) {
      this.#reportedAt = now;
      this.#onWait(shown);
    }
    return now - this.#since > this.#stuckMs;
  }
}

const FIRST_MS = 1;
const GROWTH = 1.25;

/**
 * Pauses between looks at something that is about to change. Each is a quarter longer than the one before, so a wait
 * is at most about a quarter longer than it has to be, and a long one costs few looks. Yields without end:
 * milliseconds, from 1 to `longestMs`.
 */
export function* growingPauses(longestMs: number): Generator<number, never> {
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(pauseMs * GROWTH, longestMs)) yield pauseMs;
}
