/** Samples of what started sandboxes use: for whom, how many, and at what pace. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announcedRows } from '../../../src/control/base/sandbox-rows.ts';
import { SandboxEvents } from '../../../src/control/live/sandbox-events.ts';
import { type Figures, UsageSampler } from '../../../src/control/live/usage-sampler.ts';
import type { SandboxStore } from '../../../src/control/ports/index.ts';
import { ownerIdOf, type User } from '../../../src/model/user.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let events: SandboxEvents;
let sampler: UsageSampler;
/** Ids in the order of their samples. */
let measured: string[];
/** Sandboxes that cannot be measured. */
let broken: Set<string>;
/** Sandboxes whose samples wait for a word. */
let slow: Map<string, Promise<void>>;
/** Samples that are being taken, and the most there were. */
let atOnce: { now: number; most: number };
/** Followers of changes. */
let following: number;
let cpuMs: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.setSystemTime(1_000_000);
  store = announcedRows(memoryStore().sandboxes, (id) => events.wrote(id));
  const log = { info() {}, warn() {}, error() {} };
  events = new SandboxEvents({ store, log, seen: (sandbox) => sandbox });
  measured = [];
  broken = new Set();
  slow = new Map();
  atOnce = { now: 0, most: 0 };
  following = 0;
  cpuMs = 1_000;
  sampler = new UsageSampler({
    ...{ store, log, clock: Date, bounds: { perOwner: 3, total: 4, atOnce: 2 } },
    events: {
      async follow(user, follower) {
        const end = await events.follow(user, follower);
        following++;
        return () => {
          following--;
          end();
        };
      },
    },
    async measure(id) {
      measured.push(id);
      atOnce.most = Math.max(atOnce.most, ++atOnce.now);
      await (slow.get(id) ?? turn()).finally(() => atOnce.now--);
      if (broken.has(id)) throw new Error('gone');
      return { cpuMs, memoryBytes: 5_000, diskBytes: null };
    },
  });
});

afterEach(async () => {
  await sampler.close();
  await events.close();
  vi.useRealTimers();
});

async function add(id: string, owner: User, state: 'started' | 'stopped' = 'started'): Promise<void> {
  await store.insert(sandboxRecord({ id, name: id, ownerId: ownerIdOf(owner), state, operation: null }));
}

/** What one who looks at the user's sandboxes gets. */
async function look(user: User) {
  const got: Figures[][] = [];
  return { got, end: await sampler.view(user, { usage: (figures) => void got.push(figures) }) };
}

/** Lets time pass, and work go on until it is done. */
async function turns(ms: number, done: () => boolean): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  while (!done()) await turn();
}

describe('usage', () => {
  it('is memory at once, and cores from the second sample on, each five seconds', async () => {
    await add('sb_a', alice);
    await add('sb_stopped', alice, 'stopped');
    const { got } = await look(alice);
    await turns(0, () => got.length === 1);
    expect(got[0]).toMatchObject([{ id: 'sb_a', cores: null, memoryBytes: 5_000, diskBytes: null }]);
    cpuMs = 8_500;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(got).toHaveLength(1);
    await turns(1, () => got.length === 2);
    expect(got[1]).toMatchObject([{ id: 'sb_a', cores: 1.5 }]);
  });

  it('is of the team to who acts for it, and of the own ones to the same user elsewhere', async () => {
    const member: User = { ...alice, team: { id: 'team_0000000000000001', name: 'red', role: 'member' } };
    await add('sb_own', alice);
    await add('sb_team', member);
    const [own, team] = [await look(alice), await look(member)];
    await turns(0, () => own.got.length === 1 && team.got.length === 1);
    expect(own.got[0]).toMatchObject([{ id: 'sb_own' }]);
    expect(team.got[0]).toMatchObject([{ id: 'sb_team' }]);
  });

  it('has no cores over a start anew, which begins to count at nothing', async () => {
    await add('sb_a', alice);
    const { got } = await look(alice);
    await turns(0, () => got.length === 1);
    cpuMs = 10;
    await turns(5_000, () => got.length === 2);
    expect(got[1]).toMatchObject([{ cores: null }]);
  });

  it('is of those that start later too, and not of those that stop or cannot be measured', async () => {
    await add('sb_a', alice);
    await add('sb_broken', alice);
    broken.add('sb_broken');
    const { got } = await look(alice);
    await turns(0, () => got.length === 1);
    expect(got[0]?.map(({ id }) => id)).toEqual(['sb_a']);
    await add('sb_new', alice);
    await store.update('sb_a', sandboxRecord({}).generation, { state: 'stopped' });
    await turns(5_000, () => got.length === 2);
    expect(got[1]?.map(({ id }) => id)).toEqual(['sb_new']);
  });
});

describe('the sampler', () => {
  it('measures nothing while nobody looks', async () => {
    await add('sb_a', alice);
    const { got, end } = await look(alice);
    await turns(0, () => got.length === 1);
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(measured).toEqual(['sb_a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shows nobody the sandboxes of another user', async () => {
    await add('sb_a', alice);
    await add('sb_b', bob);
    const { got } = await look(bob);
    await turns(0, () => got.length === 1);
    expect(measured).toEqual(['sb_b']);
  });

  it('divides a turn among the owners, and takes no more of one than its share', async () => {
    for (const at of [1, 2, 3, 4, 5]) await add(`sb_a${at}`, alice);
    for (const at of [1, 2, 3]) await add(`sb_b${at}`, bob);
    const hers = await look(alice);
    await turns(0, () => hers.got.length === 1);
    expect(measured).toHaveLength(3);
    const his = await look(bob);
    await turns(5_000, () => his.got.length === 1);
    expect(hers.got.at(-1)).toHaveLength(2);
    expect(his.got.at(-1)).toHaveLength(2);
  });

  it('shows one owner theirs while samples of another do not end, and takes no more at once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const at of [1, 2, 3]) {
      await add(`sb_a${at}`, alice);
      await add(`sb_b${at}`, bob);
      slow.set(`sb_a${at}`, promise);
    }
    const [hers, his] = [await look(alice), await look(bob)];
    await turns(0, () => his.got.length === 1);
    expect(his.got[0]).toHaveLength(2);
    expect(hers.got).toEqual([]);
    resolve();
    await turns(0, () => hers.got.length === 1);
    expect(atOnce.most).toBe(2);
  });

  it('follows no changes once it is closed, also for a viewer that was on the way', async () => {
    const coming = look(alice);
    await sampler.close();
    await coming;
    expect(following).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('begins no turns for viewers that come and go', async () => {
    await add('sb_a', alice);
    const first = await look(alice);
    await turns(0, () => first.got.length === 1);
    for (let visit = 0; visit < 10; visit++) (await look(alice)).end();
    await vi.advanceTimersByTimeAsync(999);
    expect(measured).toEqual(['sb_a']);
  });
});
