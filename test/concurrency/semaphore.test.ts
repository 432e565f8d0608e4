import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../src/concurrency/in-portions.ts';

describe('a semaphore', () => {
  it('runs at most so many at once, in order of arrival', async () => {
    const queue = createSemaphore(2);
    const order: number[] = [];
    let active = 0;
    let most = 0;
    await Promise.all(
      [0, 1, 2, 3, 4, 5].map((number) =>
        queue.run(async () => {
          order.push(number);
          most = Math.max(most, ++active);
          await sleep(2);
          active--;
        }),
      ),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  it('passes a place on after a failure, and skips who gave up', async () => {
    const queue = createSemaphore(1);
    const failing = queue.run(async () => {
      await sleep(5);
      throw new Error('failed');
    });
    const cancel = new AbortController();
    const canceled = queue.run(async () => 'canceled', cancel.signal);
    const last = queue.run(async () => 'last');
    cancel.abort(new Error('gave up'));
    await expect(canceled).rejects.toThrow('gave up');
    await expect(failing).rejects.toThrow('failed');
    expect(await last).toBe('last');
    expect(await queue.run(async () => 'again')).toBe('again');
  });
});
