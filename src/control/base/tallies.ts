/**
 * Plain numbers that parts keep of their work, for metrics and for operators: durations counted by bounds, and the last turn of
 * work that repeats.
 */

/** Upper bounds in seconds, ascending; longer durations count in the total alone. */
export type Bounds = readonly number[];

/** Calls of tools: from a look into memory to a command of ten minutes. */
export const callBounds: Bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Creations: a claim takes milliseconds, a machine on a busy cluster a minute. */
export const creationBounds: Bounds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export class DurationTally {
  readonly bounds: Bounds;
  /** Durations within each bound and above the one before it. */
  readonly #within: number[];
  #count = 0;
  #sumMs = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.#within = bounds.map(() => 0);
  }

  add(durationMs: number): void {
    this.#count += 1;
    this.#sumMs += durationMs;
    const at = this.bounds.findIndex((bound) => durationMs <= bound * 1_000);
    if (at >= 0) this.#within[at] = (this.#within[at] ?? 0) + 1;
  }

  get count(): number {
    return this.#count;
  }

  get sumSeconds(): number {
    return this.#sumMs / 1_000;
  }

  /** Returns the number of durations up to each bound, shorter ones included. */
  upTo(): number[] {
    let sum = 0;
    return this.#within.map((count) => {
      sum += count;
      return sum;
    });
  }
}

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
