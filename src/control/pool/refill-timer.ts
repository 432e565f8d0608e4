/** Time of the next refill: behind a burst of requests, but not for long, and a while after one that failed. */
import { limits } from '../../model/limits.ts';

const { refillDelayMs, postponedMs } = limits.warmPool;

export class RefillTimer {
  readonly #act: () => void;
  #timer: NodeJS.Timeout | null = null;
  /** Bounds the postponement: runs from the first request. */
  #latest: NodeJS.Timeout | null = null;
  #pauses = false;

  constructor(act: () => void) {
    this.#act = act;
  }

  get isSet(): boolean {
    return this.#timer !== null;
  }

  /** Restarts the delay, within the bound. Shortens no pause. */
  request(delayMs: number = refillDelayMs): void {
    if (this.#pauses) return;
    this.#restart(delayMs);
    this.#latest ??= setTimeout(() => this.#fire(), postponedMs);
  }

  /** Acts after that time, unless a request comes first. */
  later(ms: number): void {
    if (!this.isSet) this.#restart(ms);
  }

  /** Acts after that time, however many requests come. */
  pause(ms: number): void {
    this.clear();
    this.#restart(ms);
    this.#pauses = true;
  }

  clear(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#latest) clearTimeout(this.#latest);
    this.#timer = null;
    this.#latest = null;
    this.#pauses = false;
  }

  #restart(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fire(), ms);
  }

  #fire(): void {
    this.clear();
    this.#act();
  }
}
