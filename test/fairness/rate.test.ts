/** The token bucket: never more than it says, and nobody waits longer than told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bucket, isFull, takeOne } from '../../src/fairness/rate.ts';

const rate = fc.record({
  perSecond: fc.integer({ min: 1, max: 100 }),
  burst: fc.integer({ min: 1, max: 50 }),
});

describe('a bucket', () => {
  it('gives its burst at once, and then what comes back', () => {
    let bucket: Bucket | undefined;
    const take = (now: number) => {
      const taken = takeOne({ perSecond: 2, burst: 3 }, bucket, now);
      bucket = taken.bucket;
      return taken.waitMs;
    };
    expect([0, 0, 0, 0, 250, 500, 500, 60_000, 60_000, 60_000, 60_000].map(take)).toEqual([
      0, 0, 0, 500, 250, 0, 500, 0, 0, 0, 500,
    ]);
  });

  it('never gives more in any time than the burst and what comes back in it', () => {
    fc.assert(
      fc.property(rate, fc.array(fc.nat(400), { maxLength: 200 }), (rate, gaps) => {
        let bucket: Bucket | undefined;
        let now = 0;
        const taken: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const one = takeOne(rate, bucket, now);
          bucket = one.bucket;
          if (one.waitMs === 0) taken.push(now);
        }
        for (const [first, from] of taken.entries()) {
          for (const [last, to] of taken.entries()) {
            if (last < first) continue;
            const most = rate.burst + ((to - from) / 1_000) * rate.perSecond;
            expect(last - first + 1).toBeLessThanOrEqual(most + 1e-6);
          }
        }
      }),
    );
  });

  it('gives one to a caller who waits as long as it asks', () => {
    fc.assert(
      fc.property(rate, fc.array(fc.nat(100), { minLength: 1 }), (rate, gaps) => {
        let bucket: Bucket | undefined;
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const { bucket: left, waitMs } = takeOne(rate, bucket, now);
          if (waitMs > 0) expect(takeOne(rate, left, now + waitMs + 1e-6).waitMs).toBe(0);
          bucket = left;
        }
      }),
    );
  });

  it('is full again after a rest, and then as good as a new one', () => {
    const two = { perSecond: 1, burst: 2 };
    const { bucket } = takeOne(two, undefined, 0);
    expect(isFull(two, bucket, 999)).toBe(false);
    expect(isFull(two, bucket, 1_000)).toBe(true);
  });

  it('stands still when the clock goes back', () => {
    const one = { perSecond: 1, burst: 1 };
    const { bucket } = takeOne(one, undefined, 10_000);
    expect(takeOne(one, bucket, 0).waitMs).toBe(1_000);
  });
});
