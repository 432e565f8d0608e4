import { expect, it } from 'vitest';
import { growingPauses } from '../../src/concurrency/patience.ts';

it('pauses grow by a quarter, from a millisecond to the longest', () => {
  const pauses = growingPauses(2);
  const first = Array.from({ length: 6 }, () => pauses.next().value);
  expect(first).toEqual([1, 1.25, 1.5625, 1.953125, 2, 2]);
});

it('a wait takes at most a quarter and a millisecond longer than it has to, until pauses are at their longest', () => {
  let waitedMs = 0;
  for (const pauseMs of growingPauses(50)) {
    if (pauseMs === 50) break;
    expect(pauseMs).toBeLessThanOrEqual(waitedMs / 4 + 1);
    waitedMs += pauseMs;
  }
  expect(waitedMs).toBeGreaterThan(190);
});
