/** The last finished turn of work that repeats, so that an operator sees when it has stopped repeating. */

export interface Turn {
  durationMs: number;
  /** Since its end. */
  ageMs: number;
}

export class LastTurn {
  #durationMs = 0;
  #endedAt: number | null = null;

  /** Does the work, and notes it once it has ended; work that rejects is no finished turn. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const result = await work();
    this.#endedAt = performance.now();
    this.#durationMs = this.#endedAt - begun;
    return result;
  }

  /** Returns null before the end of the first turn. */
  get last(): Turn | null {
    if (this.#endedAt === null) return null;
    return { durationMs: this.#durationMs, ageMs: performance.now() - this.#endedAt };
  }
}
