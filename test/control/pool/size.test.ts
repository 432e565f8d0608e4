/** Size of the warm pool: the most that were wanted while one is made, within the bounds. */
import { describe, expect, it } from 'vitest';
import { poolSize } from '../../../src/control/pool/size.ts';

/** Steps are 5 s long. */
const wide = { min: 2, max: 20 };

describe('the size of the pool', () => {
  it('is the least without demand', () => {
    expect(poolSize(wide, [], 1_000)).toBe(2);
    expect(poolSize(wide, [0, 0, 1], 1_000)).toBe(2);
  });

  it('is what was wanted in the busiest stretch, however long ago', () => {
    expect(poolSize(wide, [0, 9, 0, 0, 1, 0], 1_000)).toBe(9);
  });

  it('counts neighbouring steps together: the making of one may begin in the middle of a step', () => {
    expect(poolSize(wide, [3, 4, 5, 1], 5_000)).toBe(9);
    expect(poolSize(wide, [3, 4, 5, 1], 5_001)).toBe(12);
  });

  it('is larger where making one takes longer', () => {
    const steady = [1, 1, 1, 1, 1, 1, 1, 1];
    expect(poolSize(wide, steady, 1_000)).toBe(2);
    expect(poolSize(wide, steady, 20_000)).toBe(5);
    expect(poolSize(wide, steady, 3_600_000)).toBe(8);
  });

  it('never passes the greatest', () => {
    expect(poolSize(wide, [500], 1_000)).toBe(20);
  });

  it('is fixed by equal bounds', () => {
    expect(poolSize({ min: 4, max: 4 }, [500], 1_000)).toBe(4);
    expect(poolSize({ min: 0, max: 0 }, [500], 1_000)).toBe(0);
  });
});
