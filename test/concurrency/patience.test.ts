import { expect, it, vi } from 'vitest';
import { Patience } from '../../src/concurrency/patience.ts';

it('lasts as long as less and less is left, and ends a time after the last end', () => {
  vi.useFakeTimers();
  try {
    const waits: string[] = [];
    const patience = new Patience(15_000, (left) => waits.push(left));
    const over: number[] = [];
    for (const left of [9, 5, 3, 5]) {
      if (patience.isOver(left, `${left} processes`)) over.push(left);
      vi.advanceTimersByTime(14_000);
    }
    expect(over).toEqual([]);
    // New ones in place of those that ended are no progress.
    expect(patience.isOver(3, '3 processes')).toBe(true);
    expect(waits).toEqual(['5 processes', '3 processes', '5 processes', '3 processes']);
  } finally {
    vi.useRealTimers();
  }
});
