/** A queue for each key: order, failures, cancellation, and pieces that pre-empt. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { KeyedQueue } from '../../src/concurrency/keyed-queue.ts';

const createQueue = () => new KeyedQueue({ preempted: () => new Error('pre-empted') });

describe('a keyed queue', () => {
  it('runs the work of one key one piece after another, and of two keys at once', async () => {
    const queue = createQueue();
    const events: string[] = [];
    const work = (id: string, name: string): Promise<void> =>
      queue.run(id, async () => {
        events.push(`${name} begins`);
        await sleep(5);
        events.push(`${name} ends`);
      });
    await Promise.all([work('a', '1'), work('a', '2'), work('b', '3')]);
    expect(events).toEqual(['1 begins', '3 begins', '1 ends', '2 begins', '3 ends', '2 ends']);
    expect(queue.busy('a')).toBe(false);
  });

  it('goes on after a failure', async () => {
    const queue = createQueue();
    const failing = queue.run('a', async () => {
      throw new Error('failed');
    });
    const next = queue.run('a', async () => 'next');
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('next');
  });

  it('cancels the running piece and turns the waiting ones away before a pre-empting piece, after their cleanup', async () => {
    const queue = createQueue();
    const events: string[] = [];
    const running = queue.run('a', async (signal) => {
      await sleep(1_000, null, { signal }).catch(() => events.push('cleaned up'));
      signal.throwIfAborted();
    });
    const waiting = queue.run('a', async () => events.push('never'));
    const other = queue.run('b', async () => 'undisturbed');
    await sleep(1);
    const last = queue.preempt('a', async () => events.push('last'));
    await expect(running).rejects.toThrow('pre-empted');
    await expect(waiting).rejects.toThrow('pre-empted');
    await last;
    expect(await other).toBe('undisturbed');
    expect(events).toEqual(['cleaned up', 'last']);
    expect(await queue.run('a', async () => 'after')).toBe('after');
  });

  it('keeps a pre-empting piece that waits when another pre-empts, and queues later pieces behind both', async () => {
    const queue = createQueue();
    const events: string[] = [];
    const first = Promise.withResolvers<void>();
    const one = queue.preempt('a', async () => {
      await first.promise;
      events.push('one');
    });
    const two = queue.preempt('a', async () => events.push('two'));
    const three = queue.preempt('a', async () => events.push('three'));
    const later = queue.run('a', async () => events.push('later'));
    first.resolve();
    await Promise.all([one, two, three, later]);
    expect(events).toEqual(['one', 'two', 'three', 'later']);
    expect(queue.busy('a')).toBe(false);
  });

  it('rejects a piece whose own signal is aborted when its turn comes, and runs the next', async () => {
    const queue = createQueue();
    const gate = Promise.withResolvers<void>();
    const running = queue.run('a', () => gate.promise);
    const cancel = new AbortController();
    const canceled = queue.run('a', async () => 'never', cancel.signal);
    const next = queue.run('a', async () => 'next');
    cancel.abort(new Error('gave up'));
    gate.resolve();
    await running;
    await expect(canceled).rejects.toThrow('gave up');
    expect(await next).toBe('next');
  });

  it('closes by canceling all that runs and waits, of every key', async () => {
    const queue = createQueue();
    const running = queue.run('a', async (signal) => {
      await sleep(10_000, null, { signal });
    });
    const waiting = queue.run('a', async () => 'never');
    const other = queue.run('b', async (signal) => {
      await sleep(10_000, null, { signal });
    });
    const ended = Promise.allSettled([running, waiting, other]);
    await queue.close();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(queue.busy('a')).toBe(false);
  });
});
