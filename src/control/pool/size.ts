/**
 * Size of the warm pool, by what callers have asked for lately. A sandbox that is taken is back once another is made, so
 * the pool needs as many as are wanted within that time.
 */
import { limits } from '../../model/limits.ts';

/** Equal bounds fix the size; 0 for both turns the pool off. */
export interface PoolBounds {
  min: number;
  max: number;
}

const { stepMs } = limits.warmPool;

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
