/**
 * Size of the warm pool, by what callers have asked for lately. A sandbox that is taken is back once another is made,
 * so the pool needs as many as are wanted within that time.
 */
import { limits } from '../../model/limits.ts';
import type { Clock, Replicas } from '../ports/index.ts';

/** Equal bounds fix the size; 0 for both turns the pool off. */
export interface PoolBounds {
  min: number;
  max: number;
}

/**
 * Returns the most sandboxes that were wanted in any stretch as long as making one takes, within the bounds.
 * @param wanted Sandboxes wanted in each step of `limits.warmPool.stepMs`, without gaps.
 * @param makeMs Time from the request for a machine until it waits in the pool.
 */
export function poolSize({ min, max }: PoolBounds, wanted: readonly number[], makeMs: number): number {
  // One more step: a stretch may begin in the middle of one.
  const steps = Math.ceil(makeMs / stepMs) + 1;
  let within = 0;
  let most = 0;
  for (const [at, count] of wanted.entries()) {
    within += count - (wanted[at - steps] ?? 0);
    most = Math.max(most, within);
  }
  return Math.min(max, Math.max(min, most));
}

const { stepMs, rememberedMs, newsMs, wantedPerNews } = limits.warmPool;
const STEPS = rememberedMs / stepMs;

/**
 * Demand for sandboxes of the warm pool in the last minutes, at all replicas: each hears of all, so the one that
 * fills the pool may change. A message that is lost makes the pool smaller, and nothing wrong.
 */
export class Demand {
  readonly #clock: Clock;
  readonly #replicas: Pick<Replicas, 'shared' | 'tell'>;
  /** The newest last, for the step `#newest`. */
  #wanted: number[] = [0];
  #newest = 0;
  #untold = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param onNews Called after others' callers have wanted some. */
  constructor(clock: Clock, replicas: Pick<Replicas, 'shared' | 'tell' | 'onTold'>, onNews: () => void) {
    this.#clock = clock;
    this.#replicas = replicas;
    replicas.onTold('wanted', (text) => {
      this.#note(countOf(text));
      onNews();
    });
  }

  /** Notes that a caller here wants one; the other replicas hear of it, together with those that follow soon. */
  note(): void {
    this.#note(1);
    if (!this.#replicas.shared) return;
    this.#untold += 1;
    this.#timer ??= setTimeout(() => this.#tell(), newsMs);
  }

  /** Returns how many were wanted in each step, the present one last. */
  steps(): readonly number[] {
    this.#advance();
    return this.#wanted;
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #tell(): void {
    this.#timer = null;
    this.#replicas.tell('wanted', String(this.#untold));
    this.#untold = 0;
  }

  #note(count: number): void {
    this.#advance();
    const last = this.#wanted.length - 1;
    this.#wanted[last] = (this.#wanted[last] ?? 0) + count;
  }

  /** A clock that was set back adds to the newest step until it has caught up. */
  #advance(): void {
    const now = Math.floor(this.#clock.now() / stepMs);
    const passed = Math.min(STEPS, Math.max(0, now - this.#newest));
    this.#newest = Math.max(this.#newest, now);
    for (let step = 0; step < passed; step++) this.#wanted.push(0);
    this.#wanted = this.#wanted.slice(-STEPS);
  }
}

/** 0 for a text that no replica of this version sends. */
function countOf(text: string): number {
  const count = Number(text);
  return Number.isSafeInteger(count) ? Math.min(Math.max(count, 0), wantedPerNews) : 0;
}
