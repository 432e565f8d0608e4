/** Changes of sandboxes for those who follow them, over a store whose writes are announced. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announcedRows } from '../../../src/control/base/sandbox-rows.ts';
import { type Follower, SandboxEvents } from '../../../src/control/live/sandbox-events.ts';
import type { SandboxStore } from '../../../src/control/ports/index.ts';
import type { User } from '../../../src/model/user.ts';
import { alice, bob, poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let events: SandboxEvents;
let reads: string[];
/** Fails the next reads of a row. */
let failures: number;

beforeEach(() => {
  vi.useFakeTimers();
  const rows = memoryStore().sandboxes;
  reads = [];
  failures = 0;
  store = announcedRows(rows, (id) => events.wrote(id));
  events = new SandboxEvents({
    store: {
      names: (owner, limit) => rows.names(owner, limit),
      async reread(id) {
        reads.push(id);
        if (failures-- > 0) throw new Error('no database');
        return rows.reread(id);
      },
    },
    log: { info() {}, warn() {}, error() {} },
    seen: (sandbox) => ({ ...sandbox, stateReason: 'seen' }),
  });
});

afterEach(async () => {
  await events.close();
  // A spy of the clock that is not the real one: it would put that back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** What a follower of the user's got, as lines. */
async function follow(user: User): Promise<{ got: string[]; end(): void }> {
  const got: string[] = [];
  const follower: Follower = {
    changed: ({ name, state, stateReason }) => got.push(`${name} ${state} ${stateReason}`),
    gone: (id) => got.push(`gone ${id}`),
    refresh: () => got.push('refresh'),
  };
  return { got, end: await events.follow(user, follower) };
}

const passes = () => vi.advanceTimersByTimeAsync(100);

const hers = sandboxRecord({ id: 'sb_a', ownerId: alice.id, name: 'a', operation: null });
const his = sandboxRecord({ id: 'sb_b', ownerId: bob.id, name: 'b', operation: null });

describe('who follows', () => {
  it('gets each change of their own sandboxes, and none of others', async () => {
    const { got } = await follow(alice);
    await store.insert(hers);
    await store.insert(his);
    await passes();
    expect(got).toEqual(['a started seen']);
    await store.update('sb_a', hers.generation, { state: 'stopped' });
    await passes();
    expect(got).toEqual(['a started seen', 'a stopped seen']);
  });

  it('gets one event for changes within a tenth of a second, with the newest row', async () => {
    await store.insert(hers);
    const { got } = await follow(alice);
    await store.update('sb_a', hers.generation, { state: 'stopped' });
    await store.update('sb_a', hers.generation, { state: 'archived' });
    await passes();
    expect(got).toEqual(['a archived seen']);
  });

  it('hears of a deletion, also of a sandbox from before', async () => {
    await store.insert(hers);
    await store.insert(his);
    const { got } = await follow(alice);
    await store.remove('sb_a', hers.generation);
    await store.remove('sb_b', his.generation);
    await passes();
    expect(got).toEqual(['gone sb_a']);
  });

  it('hears of a creation when it is done, and of none that failed', async () => {
    const { got } = await follow(alice);
    await store.insert({ ...hers, operation: 'creating' });
    await passes();
    expect(got).toEqual([]);
    await store.update('sb_a', hers.generation, { operation: null });
    await passes();
    expect(got).toEqual(['a started seen']);
    await store.insert({ ...hers, id: 'sb_c', name: 'c', operation: 'creating' });
    await store.remove('sb_c', hers.generation);
    await passes();
    expect(got).toEqual(['a started seen']);
  });

  it('gets a sandbox of the warm pool once it is theirs', async () => {
    const { got } = await follow(alice);
    await store.insert(poolRecord({ id: 'sb_p', imageDigest: 'sha256:base' }));
    await passes();
    expect(got).toEqual([]);
    const match = { imageDigest: 'sha256:base', diskGb: 20 };
    await store.claim(match, { ownerId: alice.id, name: 'mine', operation: null });
    await passes();
    expect(got).toEqual(['mine started seen']);
  });

  it('hears of activity', async () => {
    await store.insert(hers);
    const { got } = await follow(alice);
    await store.touch(new Map([['sb_a', hers.lastActivityAt + 1]]));
    await passes();
    expect(got).toEqual(['a started seen']);
  });

  it('lists again when a row could not be read, or writes may have been missed', async () => {
    await store.insert(hers);
    const { got } = await follow(alice);
    failures = 1;
    await store.update('sb_a', hers.generation, { state: 'stopped' });
    await passes();
    expect(got).toEqual(['refresh']);
    events.missed();
    expect(got).toEqual(['refresh', 'refresh']);
  });
});

describe('a write', () => {
  it('costs nothing while nobody follows', async () => {
    // Other files of the process may have timers of their own.
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const gathering = () => timers.mock.calls.filter(([, ms]) => ms === 100);
    await store.insert(hers);
    const { got, end } = await follow(alice);
    end();
    await store.update('sb_a', hers.generation, { state: 'stopped' });
    await passes();
    expect(gathering()).toEqual([]);
    expect(reads).toEqual([]);
    expect(got).toEqual([]);
    await follow(alice);
    await store.update('sb_a', hers.generation, { state: 'archived' });
    expect(gathering()).toHaveLength(1);
  });

  it('is read once for all who follow', async () => {
    await store.insert(hers);
    const first = await follow(alice);
    const second = await follow(alice);
    await store.update('sb_a', hers.generation, { state: 'stopped' });
    await passes();
    expect(reads).toEqual(['sb_a']);
    expect(first.got).toEqual(['a stopped seen']);
    expect(second.got).toEqual(first.got);
  });
});
