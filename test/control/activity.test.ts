/** Last activity of sandboxes: remembered at once, stored in batches. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Activity } from '../../src/control/turns/activity.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';

let now: number;
let stored: [string, number][][];
let activity: Activity;

beforeEach(() => {
  now = 1_000;
  stored = [];
  const touch = async (batch: ReadonlyMap<string, number>) => void stored.push([...batch]);
  activity = new Activity({ now: () => now }, { touch });
});

describe('a use', () => {
  it('counts until its end, once', () => {
    const end = activity.begin('a');
    const endOther = activity.begin('a');
    expect(activity.uses('a')).toBe(2);
    expect(activity.uses('b')).toBe(0);
    end();
    end();
    expect(activity.uses('a')).toBe(1);
    endOther();
    expect(activity.uses('a')).toBe(0);
  });

  it('is activity when it begins and when it ends', () => {
    const end = activity.begin('a');
    expect(activity.last('a', 0)).toBe(1_000);
    now = 5_000;
    end();
    expect(activity.last('a', 0)).toBe(5_000);
    now = 9_000;
    end();
    expect(activity.last('a', 0)).toBe(5_000);
  });
});

describe('the last activity', () => {
  it('is the later of the stored and the remembered', () => {
    expect(activity.last('a', 300)).toBe(300);
    activity.note('a', 500);
    expect(activity.last('a', 300)).toBe(500);
    expect(activity.last('a', 700)).toBe(700);
  });

  it('never moves back', () => {
    activity.note('a', 500);
    activity.note('a', 400);
    expect(activity.last('a', 0)).toBe(500);
  });

  it('is stored once, the latest of each sandbox', async () => {
    activity.note('a', 500);
    activity.note('a', 600);
    activity.note('b', 700);
    await activity.flush();
    await activity.flush();
    expect(stored).toEqual([
      [
        ['a', 600],
        ['b', 700],
      ],
    ]);
    activity.note('a', 600);
    await activity.flush();
    expect(stored).toHaveLength(1);
    activity.begin('a');
    await activity.flush();
    expect(stored[1]).toEqual([['a', 1_000]]);
  });

  it('of a forgotten sandbox is neither remembered nor stored', async () => {
    activity.note('a', 500);
    activity.forget('a');
    expect(activity.last('a', 0)).toBe(0);
    await activity.flush();
    expect(stored).toEqual([]);
  });
});

it('stores activity later that could not be stored, with what came meanwhile, and not of a forgotten sandbox', async () => {
  let [now, fails] = [100, true];
  const stored: [string, number][][] = [];
  const touch = async (batch: Map<string, number>) => {
    now = 200;
    activity.begin('busy')();
    activity.forget('gone');
    if (fails) throw new Error('the disk is full');
    stored.push([...batch]);
  };
  const activity = new Activity({ now: () => now }, { touch });
  for (const id of ['busy', 'idle', 'gone']) activity.begin(id)();
  await expect(activity.flush()).rejects.toThrow('the disk is full');
  fails = false;
  await activity.flush();
  expect(new Map(stored[0])).toEqual(
    new Map([
      ['busy', 200],
      ['idle', 100],
    ]),
  );
});

describe('where other replicas stop idle sandboxes', () => {
  const sandbox = { id: 'a', autoStopMinutes: 1, lastActivityAt: 0 } as Sandbox;
  let shared: Activity;

  beforeEach(() => {
    const touch = async (batch: ReadonlyMap<string, number>) => void stored.push([...batch]);
    shared = new Activity({ now: () => now }, { touch }, true);
  });

  it('a use is stored at its beginning in the last 20 seconds before the stop, and left to the flush before', async () => {
    now = 39_999;
    expect(await shared.announce(sandbox)).toBe(false);
    now = 40_000;
    expect(await shared.announce(sandbox)).toBe(true);
    expect(stored).toEqual([[['a', 40_000]]]);
  });

  it('a use of a sandbox that never stops for want of one is left to the flush', async () => {
    now = 1_000_000;
    expect(await shared.announce({ ...sandbox, autoStopMinutes: 0 })).toBe(false);
  });
});
