import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Contender } from '../../bench/launches/contender.ts';
import { inTurns } from '../../bench/launches/in-turns.ts';
import { oneAfterAnother, together } from '../../bench/launches/modes.ts';

/** Makes in 10 ms and answers in 5, and keeps what it was asked for. */
function contender(failing: readonly string[] = []) {
  const asked: string[] = [];
  const alive = new Set<string>();
  const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  let last = 0;
  let most = 0;
  const side: Contender = {
    async create() {
      const id = String(++last);
      asked.push(`create ${id}`);
      await after(10);
      if (failing.includes(`create ${id}`)) throw new Error(`no ${id}`);
      alive.add(id);
      most = Math.max(most, alive.size);
      return id;
    },
    async run(id, command) {
      asked.push(`${command.join(' ')} in ${id}`);
      await after(5);
      if (failing.includes(`run ${id}`)) throw new Error(`no answer of ${id}`);
    },
    async remove(id) {
      asked.push(`remove ${id}`);
      alive.delete(id);
    },
  };
  return { side, asked, alive, most: () => most };
}

describe('launches', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('one after another end with the removal of each', async () => {
    const { side, asked } = contender();
    const ended = oneAfterAnother(side, 2);
    await vi.runAllTimersAsync();
    expect(await ended).toEqual({ times: [15, 15], failures: [], totalMs: 30 });
    expect(asked).toEqual([
      ...['create 1', 'node -v in 1', 'remove 1'],
      ...['create 2', 'node -v in 2', 'remove 2'],
    ]);
  });

  it('at once are all alive before the first is removed', async () => {
    const { side, alive, most } = contender();
    const ended = together(side, 20, 0);
    await vi.runAllTimersAsync();
    expect(await ended).toEqual({ times: Array(20).fill(15), failures: [], totalMs: 15 });
    expect(most()).toBe(20);
    expect(alive.size).toBe(0);
  });

  it('staggered begin in equal intervals, however long each takes', async () => {
    const { side, asked, most } = contender();
    const ended = together(side, 3, 200);
    await vi.advanceTimersByTimeAsync(399);
    expect(asked.filter((each) => each.startsWith('create'))).toEqual(['create 1', 'create 2']);
    await vi.runAllTimersAsync();
    expect(await ended).toEqual({ times: [15, 15, 15], failures: [], totalMs: 415 });
    expect(most()).toBe(3);
  });

  it('count a failure, leave its time out, and remove what it has made', async () => {
    const { side, asked, alive } = contender(['create 1', 'run 2']);
    const ended = together(side, 3, 0);
    await vi.runAllTimersAsync();
    expect(await ended).toEqual({
      times: [15],
      failures: ['Error: no 1', 'Error: no answer of 2'],
      totalMs: 15,
    });
    expect(alive.size).toBe(0);
    expect(asked.filter((each) => each.startsWith('remove')).toSorted()).toEqual(['remove 2', 'remove 3']);
  });
});

describe('work in turns', () => {
  it('is done for each item, four at once', async () => {
    let now = 0;
    let most = 0;
    const done: number[] = [];
    await inTurns([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], async (item) => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now -= 1;
      done.push(item);
    });
    expect(most).toBe(4);
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('begins nothing after an error, and rejects when nothing is in progress', async () => {
    const begun: number[] = [];
    let ended = 0;
    const work = inTurns([1, 2, 3, 4, 5, 6], async (item) => {
      begun.push(item);
      if (item === 6) throw new Error('no 6');
      await new Promise((resolve) => setImmediate(resolve));
      ended += 1;
    });
    await expect(work).rejects.toThrow('no 6');
    expect(begun).toEqual([6, 5, 4, 3]);
    expect(ended).toBe(3);
  });
});
