import { expect, it, vi } from 'vitest';
import { Patience } from '../../src/concurrency/patience.ts';

it('lasts as long as steps come, and ends a time after the last', () => {
  vi.useFakeTimers();
  try {
    const waits: string[] = [];
    const patience = new Patience(15_000, (left) => waits.push(left));
    const over: string[] = [];
    for (const left of ['1,2,3', '2,3', '3', '3']) {
      if (patience.isOver(left)) over.push(left);
      vi.advanceTimersByTime(14_000);
    }
    expect(over).toEqual([]);
    expect(patience.isOver('3')).toBe(true);
    expect(waits).toEqual(['2,3', '3', '3', '3']);
  } finally {
    vi.useRealTimers();
  }
});
