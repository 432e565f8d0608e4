/** Figures of sandboxes on the page: their history, and the line that shows it. */
import { describe, expect, it } from 'vitest';
import { pointsOf } from '../../web/src/format/line-points.ts';
import { UsageHistories } from '../../web/src/service/usage-histories.ts';

const sample = (id: string, percent: number | null, bytes: number | null) => ({
  ...{ id, cpu: { cores: percent, limit: 1, percent } },
  memory: { bytes, limit_bytes: 200 },
  disk: { bytes: 1, limit_bytes: 10 },
});

describe('a history', () => {
  it('has what is known of each sample, as percents, and ends with the sandbox', () => {
    const histories = new UsageHistories();
    const changes: string[] = [];
    histories.follow('sb_a', () => changes.push('a'));
    histories.take([sample('sb_a', null, 50), sample('sb_b', 1, 1)]);
    histories.take([sample('sb_a', 30, null)]);
    expect(histories.get('sb_a')).toMatchObject({ cpu: [30], memory: [25] });
    expect(histories.get('sb_b')).toBeNull();
    histories.take([]);
    expect(histories.get('sb_a')).toBeNull();
    expect(changes).toHaveLength(3);
  });

  it('keeps the last sixty samples', () => {
    const histories = new UsageHistories();
    for (let at = 1; at <= 70; at++) histories.take([sample('sb_a', at, 1)]);
    expect(histories.get('sb_a')?.cpu).toHaveLength(60);
    expect(histories.get('sb_a')?.cpu[0]).toBe(11);
  });
});

describe('a line', () => {
  it('has the newest value at the right edge, and values within its height', () => {
    expect(pointsOf([0, 50, 100], 100, 3)).toBe('0,15 30,8 60,1');
    expect(pointsOf([100, 0], 100, 3)).toBe('30,1 60,15');
    expect(pointsOf([-5, 500], 100, 2)).toBe('0,15 60,1');
    expect(pointsOf([1, 2, 0, 100], 100, 2)).toBe('0,15 60,1');
    expect(pointsOf([50], 100, 3)).toBe('30,8 60,8');
    expect(pointsOf([], 100, 3)).toBe('');
  });
});
