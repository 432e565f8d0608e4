import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarize } from '../../bench/base/statistics.ts';

describe('the summary of samples', () => {
  it('takes the middle one as the median, or halfway between the middle two', () => {
    expect(summarize([3, 1, 2]).median).toBe(2);
    expect(summarize([4, 1, 3, 2]).median).toBe(2.5);
  });

  it('interpolates the 95th and the 99th percentile between ranks', () => {
    const samples = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect(summarize(samples)).toEqual({ count: 101, median: 50, p95: 95, p99: 99, min: 0, max: 100 });
    expect(summarize([0, 10]).p95).toBeCloseTo(9.5);
    expect(summarize([0, 10]).p99).toBeCloseTo(9.9);
  });

  it('shows the same figure of one sample under every heading', () => {
    expect(summarize([7])).toEqual({ count: 1, median: 7, p95: 7, p99: 7, min: 7, max: 7 });
  });

  it('refuses what is no measurement', () => {
    expect(() => summarize([])).toThrow(RangeError);
    expect(() => summarize([1, Number.NaN])).toThrow(RangeError);
    expect(() => summarize([Number.POSITIVE_INFINITY])).toThrow(RangeError);
  });

  it('does not depend on the order, does not change its input, and keeps min ≤ median ≤ p95 ≤ p99 ≤ max', () => {
    const samples = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(samples, (values) => {
        const copy = [...values];
        const summary = summarize(values);
        expect(values).toEqual(copy);
        expect(summarize([...values].reverse())).toEqual(summary);
        const ordered = [summary.min, summary.median, summary.p95, summary.p99, summary.max];
        expect([...ordered].sort((a, b) => a - b)).toEqual(ordered);
      }),
    );
  });
});
