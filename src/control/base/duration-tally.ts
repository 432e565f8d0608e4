/**
 * Durations of one kind of work, counted by bounds. It holds a few numbers whatever it counts, and adding one allocates
 * nothing.
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
