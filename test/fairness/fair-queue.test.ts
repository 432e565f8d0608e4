/** A whole in shares, with a line for each owner. */
import { describe, expect, it, vi } from 'vitest';
import { FairQueue } from '../../src/fairness/fair-queue.ts';

const queue = (options: Partial<ConstructorParameters<typeof FairQueue>[0]> = {}) =>
  new FairQueue({ total: 4, perOwner: 2, waiting: 3, waitMs: 1_000, what: 'turns are taken', ...options });

/** Whether it is held already. */
async function state(promise: Promise<unknown>): Promise<'held' | 'waits'> {
  return Promise.race([
    promise.then(() => 'held' as const),
    new Promise<'waits'>((done) => setImmediate(done, 'waits')),
  ]);
}

describe('a fair queue', () => {
  it('lets an owner wait behind himself, and nobody else', async () => {
    const fair = queue();
    const first = await fair.take('mallory');
    await fair.take('mallory');
    const third = fair.take('mallory');
    expect(await state(third)).toBe('waits');
    expect(await state(fair.take('alice'))).toBe('held');
    first();
    expect(await state(third)).toBe('held');
    expect([fair.of('mallory'), fair.of('alice'), fair.total]).toEqual([2, 1, 3]);
  });

  it('serves those who wait for the whole one of each in turn', async () => {
    const fair = queue({ total: 1, perOwner: 1, waiting: 9 });
    const first = await fair.take('mallory');
    const served: string[] = [];
    const wait = async (owner: string) => {
      const release = await fair.take(owner);
      served.push(owner);
      release();
    };
    const all = ['mallory', 'mallory', 'mallory', 'alice', 'bob'].map(wait);
    first();
    await Promise.all(all);
    expect(served).toEqual(['mallory', 'alice', 'bob', 'mallory', 'mallory']);
  });

  it('does not pass by a large amount for small ones that come later', async () => {
    const fair = queue({ total: 4, perOwner: 3 });
    const small = await fair.take('alice', 2);
    const large = fair.take('bob', 3);
    const later = fair.take('carol', 1);
    expect([await state(large), await state(later)]).toEqual(['waits', 'waits']);
    small();
    expect([await state(large), await state(later)]).toEqual(['held', 'held']);
  });

  it('refuses an amount beyond a share, a line that is too long, and a wait that is', async () => {
    vi.useFakeTimers();
    try {
      const fair = queue();
      await expect(fair.take('mallory', 3)).rejects.toMatchObject({ code: 'resource_exhausted' });
      await fair.take('mallory', 2);
      const waits = [1, 2, 3].map(() => fair.take('mallory').catch((error: unknown) => error));
      await expect(fair.take('mallory')).rejects.toMatchObject({
        code: 'resource_exhausted',
        message: '2 turns are taken for you; your share is 2.',
      });
      await vi.advanceTimersByTimeAsync(1_000);
      for (const waited of await Promise.all(waits))
        expect(waited).toMatchObject({ code: 'resource_exhausted' });
      expect(fair.of('mallory')).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('serves those who wait from a part that is given back', async () => {
    const fair = queue();
    const release = await fair.take('mallory', 2);
    const second = fair.take('mallory');
    expect(await state(second)).toBe('waits');
    release(1);
    expect(await state(second)).toBe('held');
    expect(fair.of('mallory')).toBe(2);
  });

  it('forgets who gives up waiting', async () => {
    const fair = queue();
    const held = await fair.take('mallory', 2);
    const left = new AbortController();
    const waits = fair.take('mallory', 1, left.signal);
    left.abort(new Error('left'));
    await expect(waits).rejects.toThrow('left');
    held();
    held();
    expect([fair.of('mallory'), fair.total]).toEqual([0, 0]);
  });
});
