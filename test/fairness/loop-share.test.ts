/** Work that others cause runs within a share of each turn of the loop, one source after another. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LoopShare } from '../../src/fairness/loop-share.ts';

/** Holds the thread for so long. */
function hold(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

it('work runs at once while the turn has time left', () => {
  const share = new LoopShare(10_000);
  const done: number[] = [];
  share.run('a', () => done.push(1));
  share.run('b', () => done.push(2));
  expect(done).toEqual([1, 2]);
});

it('no turn takes more than its share and one piece of work', async () => {
  const share = new LoopShare(4);
  let done = 0;
  for (let at = 0; at < 40; at++) {
    share.run('a', () => {
      hold(2);
      done++;
    });
  }
  for (let before = done, turns = 0; done < 40; before = done, turns++) {
    await nextTurn();
    expect(done - before, `turn ${turns}`).toBeLessThanOrEqual(3);
  }
  expect(share.waiting).toBe(0);
});

it('work that is always followed by more takes no more of a later turn than of the first', async () => {
  const share = new LoopShare(4);
  let [done, over] = [0, false];
  const work = (source: string) => () => {
    hold(2);
    done++;
    if (!over) share.run(source, work(source));
  };
  for (const source of ['a', 'b', 'c']) share.run(source, work(source));
  try {
    for (let before = done, turns = 0; turns < 10; before = done, turns++) {
      await nextTurn();
      expect(done - before, `turn ${turns}`).toBeLessThanOrEqual(3);
    }
  } finally {
    over = true;
  }
});

it('a source with little to do waits for one piece of each other source, not for all of them', async () => {
  const share = new LoopShare(1);
  const order: string[] = [];
  const work = (name: string) => () => {
    hold(2);
    order.push(name);
  };
  for (let at = 0; at < 20; at++) share.run('busy', work('busy'));
  share.run('modest', work('modest'));
  while (share.waiting > 0) await nextTurn();
  expect(order.indexOf('modest')).toBeLessThanOrEqual(2);
  expect(order).toHaveLength(21);
});

it('the work of one source keeps its order', async () => {
  const share = new LoopShare(1);
  const order: number[] = [];
  for (let at = 0; at < 10; at++) {
    share.run('a', () => {
      hold(1);
      order.push(at);
    });
  }
  while (share.waiting > 0) await nextTurn();
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it('work that fails is not the end of what waits', async () => {
  const share = new LoopShare(1);
  let done = 0;
  const fail = () => {
    throw new Error('a defect');
  };
  expect(() => share.run('a', fail)).toThrow('a defect');
  share.run('a', () => hold(2));
  share.run('a', () => done++);
  share.run('b', () => done++);
  while (share.waiting > 0) await nextTurn();
  expect(done).toBe(2);
});

it('work that asks for more work is heard in a later turn', async () => {
  const share = new LoopShare(1);
  let done = 0;
  const again = () => {
    hold(2);
    if (++done < 5) share.run('a', again);
  };
  share.run('a', again);
  expect(done).toBe(1);
  while (done < 5) await nextTurn();
});

it('a share of no time gives each turn one piece of work, and none at once', async () => {
  const share = new LoopShare(0);
  let done = 0;
  const [one, other] = [{}, {}];
  for (const source of [one, one, other]) share.run(source, () => done++);
  for (const expected of [0, 1, 2, 3, 3]) {
    expect(done).toBe(expected);
    await nextTurn();
  }
});
