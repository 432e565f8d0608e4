/** Warm pool: refilled to its size, paced behind claims, and quiet on a full host and after its end. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import { WarmPool } from '../../../src/control/lifecycle/pool.ts';
import type { Image, Images, Runtime, SandboxStore } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { createAlone } from '../../../src/store/alone.ts';
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
  mostAtOnce: 0,
  /** Awaited by every start of a machine. */
  gate: Promise.resolve(),
  warnings: 0,
});

let store: SandboxStore;
let host: ReturnType<typeof newHost>;

beforeEach(() => {
  vi.useFakeTimers();
  store = memoryStore().sandboxes;
  host = newHost();
});

afterEach(() => {
  vi.useRealTimers();
});

function newPool(size = 3): WarmPool {
  const discard: Machines['discard'] = async ({ id, generation }) =>
    void (await store.remove(id, generation));
  return new WarmPool({
    replicas: createAlone(),
    store,
    runtime: { capacity: async () => ({ ...enough, freeSlots: host.freeSlots }) } as unknown as Runtime,
    images: { use } as unknown as Images,
    machines: { create, discard } as unknown as Machines,
    regionId: 'home',
    clock: { now: () => 7 },
    log: { info() {}, warn: () => void host.warnings++, error() {} },
    size,
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
  host.mostAtOnce = Math.max(host.mostAtOnce, ++host.starting);
  await host.gate;
  host.starting--;
  host.freeSlots--;
  await store.update(id, generation, { operation: null, state: 'started', runGeneration: generation });
}

/** A pool whose first refill has begun, and has ended where nothing holds it up. */
async function filled(): Promise<WarmPool> {
  const pool = newPool();
  pool.refill();
  await pass(250);
  return pool;
}

/** Holds every start of a machine up until the returned function is called. */
function holdStarts(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  host.gate = promise;
  return resolve;
}

const ready = async () => (await store.pool()).length;

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

  it('makes only the missing ones', async () => {
    const pool = await filled();
    await store.claim({ imageDigest: 'sha256:base', diskGb: 20 }, { ownerId: alice.id, name: 'mine' });
    pool.refill();
    await pass(250);
    expect(await ready()).toBe(3);
    expect(host.made).toHaveLength(4);
  });

  it('[WIRE-UP-06] makes none for the size 0', () => {
    newPool(0).refill();
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
});
