/** Token buckets by key, and their parts at several processes. */
import { describe, expect, it } from 'vitest';
import { Buckets } from '../../src/fairness/rate.ts';

const rate = { perSecond: 1, burst: 10 };

function takenAtOnce(buckets: Buckets, key: string): number {
  let taken = 0;
  while (taken < 100 && buckets.take(key, 0) === 0) taken++;
  return taken;
}

describe('buckets', () => {
  it('allow each key its burst, and one more after the time', () => {
    const buckets = new Buckets(rate, 100);
    expect(takenAtOnce(buckets, 'ann')).toBe(10);
    expect(takenAtOnce(buckets, 'ben')).toBe(10);
    expect(buckets.take('ann', 0)).toBe(1_000);
    expect(buckets.take('ann', 1_000)).toBe(0);
  });

  it('allow a part of it where others allow the rest, as many as there are now', () => {
    const replicas = { count: 4 };
    const buckets = new Buckets(rate, 100, replicas);
    expect(takenAtOnce(buckets, 'ann')).toBe(3);
    expect(buckets.take('ann', 0)).toBe(4_000);
    replicas.count = 1;
    expect(takenAtOnce(buckets, 'ben')).toBe(10);
  });

  it('allow one where there are more processes than the burst has tokens', () => {
    expect(takenAtOnce(new Buckets(rate, 100, { count: 50 }), 'ann')).toBe(1);
  });
});
