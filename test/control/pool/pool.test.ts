/** Warm pool: refilled to its size, which may follow demand, paced behind claims, and quiet on a full host and after its end. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import { WarmPool } from '../../../src/control/pool/pool.ts';
import type { PoolBounds } from '../../../src/control/pool/size.ts';
import type { Image, Images, Replicas, Runtime, SandboxStore } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { noNetwork } from '../../../src/model/network/setting.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { alice, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const enough = {
  freeGpus: 0,
  freeMemoryBytes: 1,
  reserveMemoryBytes: 1,
  freeDiskBytes: 1,
  reserveDiskBytes: 1,
};

const newHost = () => ({
  freeSlots: 100,
  imageError: null as Error | null,
  imageInUse: false,
  /** Every row as it was stored when its machine was started. */
  made: [] as (Sandbox | null)[],
  starting: 0,
  /** Machines that are still to fail. */
  failing: 0,
  mostAtOnce: 0,
  /** Awaited by every start of a machine, after those of the first ones. */
  gate: Promise.resolve(),
  gates: [] as Promise<void>[],
  warnings: 0,
  now: 7,
});

let store: SandboxStore;
let host: ReturnType<typeof newHost>;
let replicas: Replicas;

beforeEach(() => {
  vi.useFakeTimers();
  store = memoryStore().sandboxes;
  host = newHost();
  replicas = createAlone();
});

afterEach(() => {
  vi.useRealTimers();
});

function newPool(bounds: PoolBounds = { min: 3, max: 3 }, atOnce = 1): WarmPool {
  return new WarmPool({
    replicas,
    store,
    runtime: { capacity: async () => ({ ...enough, freeSlots: host.freeSlots }) } as unknown as Runtime,
    images: { use } as unknown as Images,
    machines: { create, finish } as unknown as Machines,
    networks: { usual: noNetwork },
    regionId: 'home',
    clock: { now: () => host.now },
    log: { info() {}, warn: () => void host.warnings++, error() {} },
    bounds,
    atOnce,
  });
}

const use: Images['use'] = async (wanted, work) => {
  if (host.imageError) throw host.imageError;
  host.imageInUse = 'reference' in wanted && wanted.reference === 'base';
  return work({ digest: 'sha256:base' } as Image).finally(() => {
    host.imageInUse = false;
  });
};

async function create({ id, generation }: Sandbox): Promise<void> {
  if (!host.imageInUse) throw new Error('The image may be collected.');
  host.made.push(await store.get(id));
  if (host.failing-- > 0) {
    await store.remove(id, generation);
    throw new SandhavenError('unavailable', 'It did not start.');
  }
  host.mostAtOnce = Math.max(host.mostAtOnce, ++host.starting);
  await (host.gates.shift() ?? host.gate);
  host.starting--;
  host.freeSlots--;
  await store.update(id, generation, { operation: null, state: 'started', runGeneration: generation });
}

/** Removes what the pool has claimed for its removal. */
async function finish(id: string): Promise<void> {
  const row = await store.get(id);
  if (row?.operation !== 'deleting' || row.ownerId !== null) throw new Error(`${id} is not to be removed`);
  await store.remove(id, row.generation);
}

/** A pool whose first refill has begun, and has ended where nothing holds it up. */
async function filled(): Promise<WarmPool> {
  const pool = newPool();
  pool.refill();
  await pass(250);
  return pool;
}

/** Passes time of timers and of the clock. */
async function later(ms: number): Promise<void> {
  host.now += ms;
  await pass(ms);
}

/** Holds every start of a machine up until the returned function is called. */
function holdStarts(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  host.gate = promise;
  return resolve;
}

/** Another replica, whose messages are made by `told`. */
function withNeighbour() {
  const neighbour: { told?: (text: string) => void } = {};
  replicas = {
    ...replicas,
    onTold(topic, listener) {
      if (topic === 'wanted') neighbour.told = listener;
    },
  };
  return neighbour;
}

const ready = async () => (await store.pool()).length;
const claim = () =>
  store.claim({ imageDigest: 'sha256:base', diskGb: 20 }, { ownerId: alice.id, name: `n${host.now++}` });

describe('a refill', () => {
  it('makes sandboxes of the base image up to the size, each a row without an owner before its machine', async () => {
    await filled();
    expect(await ready()).toBe(3);
    expect(host.made).toHaveLength(3);
    for (const row of host.made) {
      expect(row).toMatchObject({ ownerId: null, name: row?.id, operation: 'creating', generation: 1 });
      expect(row).toMatchObject({ image: 'base', imageDigest: 'sha256:base', entrypoint: null });
      expect(row).toMatchObject({ resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 }, regionId: 'home' });
      expect(row).toMatchObject({ createdAt: 7, autoStopMinutes: 0, autoDeleteMinutes: -1 });
    }
  });

  it('shows in the state of the pool, with what is ready and what is being made', async () => {
    expect(newPool({ min: 0, max: 0 }).state).toEqual({ ready: 0, making: 0, wanted: 0, min: 0, max: 0 });
    const begin = holdStarts();
    const pool = newPool();
    expect(pool.state).toEqual({ ready: null, making: 0, wanted: 3, min: 3, max: 3 });
    pool.refill();
    await pass(250);
    expect(pool.state).toMatchObject({ ready: 0, making: 1 });
    begin();
    await pass(250);
    expect(pool.state).toMatchObject({ ready: 3, making: 0 });
  });

  it('makes only the missing ones', async () => {
    const pool = await filled();
    await store.claim({ imageDigest: 'sha256:base', diskGb: 20 }, { ownerId: alice.id, name: 'mine' });
    pool.refill();
    await pass(250);
    expect(await ready()).toBe(3);
    expect(host.made).toHaveLength(4);
  });

  it('[WIRE-UP-06] makes none for the size 0', () => {
    newPool({ min: 0, max: 0 }).refill();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits for the end of a burst of claims', async () => {
    const pool = newPool();
    for (let claims = 0; claims < 4; claims++) {
      pool.refill();
      await pass(249);
    }
    expect(host.made).toHaveLength(0);
    await pass(1);
    expect(host.made).toHaveLength(3);
  });

  it('waits no longer than a second for the end of steady claims, each time', async () => {
    const pool = newPool({ min: 9, max: 9 });
    const claims = async (count: number) => {
      for (let n = 0; n < count; n++) {
        pool.refill();
        await pass(100);
      }
    };
    await claims(9);
    expect(host.made).toHaveLength(0);
    await claims(1);
    expect(host.made).toHaveLength(9);
    while (await claim());
    await claims(9);
    expect(host.made).toHaveLength(9);
    await claims(1);
    expect(host.made).toHaveLength(18);
  });

  it('makes some while claims come all the time', async () => {
    const pool = newPool({ min: 9, max: 9 }, 3);
    const read = store.pool.bind(store);
    store.pool = async () => {
      pool.refill();
      return read();
    };
    pool.refill();
    await pass(250);
    expect(host.made).toHaveLength(3);
  });

  it('in progress gives way to a burst of claims', async () => {
    const letStart = holdStarts();
    const pool = await filled();
    pool.refill();
    letStart();
    await pass(249);
    expect(host.made).toHaveLength(1);
    await pass(1);
    expect(host.made).toHaveLength(3);
  });

  it('starts one machine at a time, also when asked again meanwhile', async () => {
    const letStart = holdStarts();
    const pool = await filled();
    pool.refill();
    await pass(250);
    letStart();
    await pass(250);
    expect(host.mostAtOnce).toBe(1);
    expect(host.made).toHaveLength(3);
  });
});

describe('sandboxes made side by side', () => {
  it('are as many as allowed, and no more than are missing', async () => {
    const letStart = holdStarts();
    newPool({ min: 5, max: 5 }, 3).refill();
    await pass(250);
    expect(host.starting).toBe(3);
    letStart();
    await pass(0);
    expect([host.mostAtOnce, host.made.length]).toEqual([3, 5]);
  });

  it('are made again when claims came while a refill ended', async () => {
    const [first, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    host.gates = [first.promise, others.promise, others.promise];
    const pool = newPool({ min: 5, max: 5 }, 3);
    pool.refill();
    await pass(250);
    pool.refill();
    first.resolve();
    await pass(250);
    expect(host.starting).toBe(2);
    others.resolve();
    await pass(0);
    expect(await ready()).toBe(5);
  });

  it('are all waited for when one fails, and the failure is logged', async () => {
    const letStart = holdStarts();
    host.failing = 1;
    const pool = newPool({ min: 3, max: 3 }, 3);
    pool.refill();
    await pass(250);
    expect([host.warnings, host.starting]).toEqual([0, 2]);
    const closing = pool.close().then(ready);
    letStart();
    expect(await closing).toBe(2);
    expect(host.warnings).toBe(1);
  });
});

describe('a pool that follows demand', () => {
  it('has its least size without any', async () => {
    newPool({ min: 1, max: 9 }).refill();
    await pass(250);
    expect(await ready()).toBe(1);
  });

  it('has as many as were wanted at about the same time, those that it lacked too', async () => {
    const pool = newPool({ min: 1, max: 9 });
    for (let wanted = 0; wanted < 4; wanted++) pool.wanted();
    await pass(250);
    expect(await ready()).toBe(4);
  });

  it('has no more than its greatest size', async () => {
    const pool = newPool({ min: 1, max: 3 });
    for (let wanted = 0; wanted < 8; wanted++) pool.wanted();
    await pass(250);
    expect(await ready()).toBe(3);
  });

  it('hears of demand at other replicas', async () => {
    const neighbour = withNeighbour();
    newPool({ min: 0, max: 9 });
    neighbour.told?.('3');
    await pass(250);
    expect(await ready()).toBe(3);
  });

  it('keeps for ten minutes what was wanted, and then removes one each 15 s', async () => {
    const pool = newPool({ min: 1, max: 9 });
    for (let wanted = 0; wanted < 4; wanted++) pool.wanted();
    await pass(250);
    host.now += 575_000;
    await later(15_000);
    expect(await ready()).toBe(4);
    await later(15_000);
    expect(await ready()).toBe(3);
    await later(14_999);
    expect(await ready()).toBe(3);
    await later(1);
    expect(await ready()).toBe(2);
    await later(15_000);
    expect(await ready()).toBe(1);
    await later(60_000);
    expect(await ready()).toBe(1);
  });

  it('removes none for a refill in between', async () => {
    const pool = newPool({ min: 1, max: 9 });
    for (let wanted = 0; wanted < 4; wanted++) pool.wanted();
    await pass(250);
    host.now += 700_000;
    for (let looks = 0; looks < 5; looks++) {
      pool.refill();
      await later(2_000);
    }
    expect(await ready()).toBe(3);
  });

  it('leaves a sandbox alone that a caller has claimed', async () => {
    const pool = newPool({ min: 0, max: 9 });
    pool.wanted();
    await pass(250);
    const claimed = await claim();
    host.now += 700_000;
    await pass(60_000);
    expect(await store.get(claimed?.id ?? '')).toEqual(claimed);
  });

  it('of a fixed size removes none, also of more than that', async () => {
    newPool({ min: 4, max: 4 }).refill();
    await pass(250);
    newPool({ min: 2, max: 2 }).refill();
    await pass(700_000);
    expect(await ready()).toBe(4);
  });
});

describe('a pool that cannot be filled', () => {
  it('stops at a full host, logs it, and tries again after 10 s', async () => {
    host.freeSlots = 1;
    await filled();
    expect([host.made.length, host.warnings]).toEqual([1, 1]);
    host.freeSlots = 5;
    await pass(9_999);
    expect(host.made).toHaveLength(1);
    await pass(1);
    expect(await ready()).toBe(3);
  });

  it('is left alone for 10 s, however many claims come meanwhile', async () => {
    host.freeSlots = 1;
    const pool = await filled();
    host.freeSlots = 5;
    for (let seconds = 0; seconds < 9; seconds++) {
      pool.wanted();
      await pass(1_000);
    }
    expect(host.made).toHaveLength(1);
    await pass(1_000);
    expect(await ready()).toBe(3);
  });

  it('tries again every 10 s while the image is away', async () => {
    host.imageError = new SandhavenError('unavailable', 'There is no base image.');
    await filled();
    await pass(10_000);
    expect(host.warnings).toBe(2);
    host.imageError = null;
    await pass(10_000);
    expect(await ready()).toBe(3);
  });
});

describe('a closed pool', () => {
  it('makes none, whether asked before or after, and leaves no timer', async () => {
    const pool = newPool();
    pool.refill();
    await pool.close();
    expect(vi.getTimerCount()).toBe(0);
    pool.refill();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends the machine in progress first, and makes no more', async () => {
    const letStart = holdStarts();
    const pool = await filled();
    const closing = pool.close().then(ready);
    letStart();
    expect(await closing).toBe(1);
    await pass(60_000);
    expect(host.made).toHaveLength(1);
  });

  it('deletes its waiting sandboxes when it is discarded, and no others', async () => {
    const owned = sandboxRecord();
    await store.insert(owned);
    const pool = await filled();
    await pool.discard();
    pool.refill();
    await pass(60_000);
    expect(await store.all()).toEqual([owned]);
  });

  it('leaves alone what a caller claims while it is discarded', async () => {
    const pool = await filled();
    let claimed: Sandbox | null = null;
    const read = store.pool.bind(store);
    store.pool = async () => {
      const rows = await read();
      claimed = await claim();
      return rows;
    };
    await pool.discard();
    expect(claimed).not.toBeNull();
    expect(await store.all()).toEqual([claimed]);
  });

  it('leaves the sandboxes to the other replicas, whose callers claim them', async () => {
    const pool = await filled();
    Object.assign(replicas, { shared: true });
    await pool.discard();
    expect(await ready()).toBe(3);
  });
});
