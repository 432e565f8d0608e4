import { describe, expect, it, vi } from 'vitest';
import { InProgress } from '../../src/concurrency/closing.ts';

describe('work in progress', () => {
  it('is waited for, but not what begins meanwhile', async () => {
    const work = new InProgress<string>();
    const endFirst = work.begin('first');
    const ended = work.endOfThese(60_000);
    work.begin('second');
    endFirst();
    expect(await ended).toEqual([]);
  });

  it('that does not end in time is named', async () => {
    vi.useFakeTimers();
    const work = new InProgress<string>();
    work.begin('long');
    const endShort = work.begin('short');
    const ended = work.endOfThese(5_000);
    endShort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await ended).toEqual(['long']);
    vi.useRealTimers();
  });

  it('is over at once when there is none', async () => {
    expect(await new InProgress().endOfThese(60_000)).toEqual([]);
  });

  it('may be ended twice', async () => {
    const work = new InProgress<string>();
    const end = work.begin('first');
    end();
    end();
    expect(await work.endOfThese(60_000)).toEqual([]);
  });
});
