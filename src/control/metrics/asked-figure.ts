/** A figure that has to be asked for: kept for a while, asked by one at a time, and left out when its answer is late. */
import { within } from '../../concurrency/deadline.ts';
import { limits } from '../../model/limits.ts';

export class AskedFigure<T> {
  readonly #ask: () => Promise<T>;
  readonly #keptMs: number;
  #known: { value: T; at: number } | null = null;
  #asking: Promise<T | null> | null = null;

  constructor(keptMs: number, ask: () => Promise<T>) {
    this.#keptMs = keptMs;
    this.#ask = ask;
  }

  /** Resolves to null where the answer fails, or takes too long. Never rejects. */
  async read(): Promise<T | null> {
    if (this.#known && performance.now() - this.#known.at < this.#keptMs) return this.#known.value;
    this.#asking ??= this.#asked().finally(() => {
      this.#asking = null;
    });
    return within(limits.metrics.askMs, this.#asking, () => null);
  }

  async #asked(): Promise<T | null> {
    try {
      const value = await this.#ask();
      this.#known = { value, at: performance.now() };
      return value;
    } catch {
      // Its metric is missing then; callers who need the answer get the cause.
      return null;
    }
  }
}
