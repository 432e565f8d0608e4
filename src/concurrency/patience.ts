/**
 * Patience with work that ends in steps: on a busy host it may take any time in all, so that only a long time without a step says
 * that it is stuck.
 */
const REPORT_MS = 5_000;

export class Patience {
  readonly #stuckMs: number;
  readonly #onWait: (left: string) => void;
  #left: string | null = null;
  #since = 0;
  #reportedAt = performance.now();

  /**
   * @param stuckMs Time without a step.
   * @param onWait Called with what is left, every few seconds.
   */
  constructor(stuckMs: number, onWait: (left: string) => void = () => {}) {
    this.#stuckMs = stuckMs;
    this.#onWait = onWait;
  }

  /** Returns true once this has been left, unchanged, for too long. */
  isOver(left: string): boolean {
    const now = performance.now();
    if (left !== this.#left) this.#since = now;
    this.#left = left;
    if (now - this.#reportedAt >= REPORT_MS) {
      this.#reportedAt = now;
      this.#onWait(left);
    }
    return now - this.#since > this.#stuckMs;
  }
}
