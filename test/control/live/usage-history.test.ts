import { beforeEach, describe, expect, it } from 'vitest';
import { UsageHistory } from '../../../src/control/live/usage-history.ts';
import type { SandboxUsage } from '../../../src/control/ports/index.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { alice, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const START = 1_900_000_000_000;
const STEP = 10_000;
const MB = 1_000_000;

let now: number;
let store: ReturnType<typeof memoryStore>['sandboxes'];
let use: SandboxUsage & { oomKills: number | null };
let asleep: boolean;
let measured: number;
let history: UsageHistory;

beforeEach(() => {
  now = START;
  store = memoryStore().sandboxes;
  use = { cpuMs: 0, memoryBytes: 100 * MB, diskBytes: 5 * MB, oomKills: 0 };
  asleep = false;
  measured = 0;
  history = new UsageHistory({
    store,
    runtime: {
      async usage() {
        measured += 1;
        return use;
      },
      sleep: { since: () => (asleep ? 1 : null) } as never,
      killedLast: async () => 'python3',
    },
    clock: { now: () => now },
    log: { info() {}, warn() {}, error() {} },
  });
});

async function add(given: Partial<Sandbox> = {}): Promise<string> {
  const sandbox = sandboxRecord(given);
  await store.insert(sandbox);
  return sandbox.id;
}

async function pass(seconds: number, cores = 0): Promise<void> {
  for (let left = seconds; left > 0; left -= 10) {
    now += STEP;
    use = { ...use, cpuMs: (use.cpuMs ?? 0) + cores * STEP };
    await history.turn();
  }
}

describe('the history of use', () => {
  it('has a sample each ten seconds, with the cores between two', async () => {
    const id = await add();
    await pass(10);
    await pass(10, 1.5);
    use = { ...use, memoryBytes: 200 * MB };
    await pass(10, 0);
    const { samples } = await history.of(alice, id);
    expect(samples).toEqual([
      { at: START + STEP, cores: null, memoryBytes: 100 * MB, diskBytes: 5 * MB },
      { at: START + 2 * STEP, cores: 1.5, memoryBytes: 100 * MB, diskBytes: 5 * MB },
      { at: START + 3 * STEP, cores: 0, memoryBytes: 200 * MB, diskBytes: 5 * MB },
    ]);
  });

  it('is one hour long, and is gone an hour after the last sample', async () => {
    const id = await add();
    await pass(4_000, 1);
    const { samples } = await history.of(alice, id);
    expect(samples).toHaveLength(360);
    expect(samples[0]?.at).toBe(now - 359 * STEP);
    await store.update(id, 1, { state: 'stopped' });
    await pass(3_590);
    expect((await history.of(alice, id)).samples).toHaveLength(1);
    await pass(20);
    expect((await history.of(alice, id)).samples).toEqual([]);
  });

  it('knows nothing of times without a sample', async () => {
    const id = await add();
    await pass(10);
    now += 3 * STEP;
    await pass(10);
    const { samples } = await history.of(alice, id);
    expect(samples.map(({ memoryBytes }) => memoryBytes)).toEqual([100 * MB, null, null, null, 100 * MB]);
  });

  it('reads nothing of one that sleeps', async () => {
    const id = await add();
    await pass(20, 1);
    asleep = true;
    await pass(20);
    expect(measured).toBe(2);
    const { samples } = await history.of(alice, id);
    expect(samples.map(({ cores }) => cores)).toEqual([null, 1, 0, 0]);
    expect(samples.at(-1)).toMatchObject({ memoryBytes: 100 * MB });
  });

  it('names what was killed for want of memory, also after another start', async () => {
    const id = await add();
    use = { ...use, oomKills: 3 };
    await pass(10);
    expect((await history.of(alice, id)).outOfMemory).toEqual([]);
    use = { ...use, oomKills: 5 };
    await pass(10);
    use = { ...use, oomKills: 0 };
    await pass(10);
    use = { ...use, oomKills: 1 };
    await pass(10);
    expect((await history.of(alice, id)).outOfMemory).toEqual([
      { at: START + 2 * STEP, killed: 2, process: 'python3' },
      { at: START + 4 * STEP, killed: 1, process: 'python3' },
    ]);
  });

  it('is for those of the caller alone', async () => {
    const id = await add();
    const bob = { ...alice, id: 'user_bob' };
    await expect(history.of(bob, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('goes on when one cannot be measured, and keeps 500 of an owner at most', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 501; made++) ids.push(await add());
    await pass(10);
    const kept = await Promise.all(ids.map((id) => history.of(alice, id)));
    expect(kept.filter(({ samples }) => samples.length > 0)).toHaveLength(500);
  });
});
