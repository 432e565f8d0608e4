import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createQueue } from '../../src/concurrency/semaphore.ts';
import { createTurns } from '../../src/runtime/oci/turns.ts';

describe('the launch queue', () => {
  it('runs at most so many at once, in order of arrival', async () => {
    const queue = createQueue(2);
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
    const queue = createQueue(1);
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

describe('turns', () => {
  it('take work on one sandbox one after another, and on two at once', async () => {
    const turns = createTurns();
    const events: string[] = [];
    const work = (id: string, name: string): Promise<void> =>
      turns.run(id, async () => {
        events.push(`${name} begins`);
        await sleep(5);
        events.push(`${name} ends`);
      });
    await Promise.all([work('a', '1'), work('a', '2'), work('b', '3')]);
    expect(events).toEqual(['1 begins', '3 begins', '1 ends', '2 begins', '3 ends', '2 ends']);
    expect(turns.busy('a')).toBe(false);
  });

  it('go on after a failure', async () => {
    const turns = createTurns();
    const failing = turns.run('a', async () => {
      throw new Error('failed');
    });
    const next = turns.run('a', async () => 'next');
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('next');
  });

  it('cancel what runs and what waits when something pre-empts, and wait for the cleanup', async () => {
    const turns = createTurns();
    const events: string[] = [];
    const running = turns.run('a', async (signal) => {
      await sleep(1_000, null, { signal }).catch(() => events.push('cleaned up'));
      signal.throwIfAborted();
    });
    const waiting = turns.run('a', async () => events.push('never'));
    const other = turns.run('b', async () => 'undisturbed');
    await sleep(1);
    const last = turns.preempt('a', async () => events.push('last'));
    await expect(running).rejects.toMatchObject({ code: 'unavailable' });
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await last;
    expect(await other).toBe('undisturbed');
    expect(events).toEqual(['cleaned up', 'last']);
    expect(await turns.run('a', async () => 'after')).toBe('after');
  });
});
