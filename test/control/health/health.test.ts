/** Health of the service: what it counts, its history, and how often the doctor is asked. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DoctorFinding, HealthService } from '../../../src/control/health/health.ts';
import { alice, poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let time: number;
let health: HealthService;
const capacity = {
  ...{ freeMemoryBytes: 8, freeDiskBytes: 9, reserveMemoryBytes: 1, reserveDiskBytes: 2 },
  ...{ freeSlots: 3, gpus: 2, freeGpus: 1 },
};

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  time = 1_000;
  const store = memoryStore();
  await store.users.insertUser(alice);
  const rows = [
    sandboxRecord({ id: 'sb_1' }),
    sandboxRecord({ id: 'sb_2' }),
    sandboxRecord({ id: 'sb_3', state: 'stopped' }),
    sandboxRecord({ id: 'sb_4', operation: 'stopping' }),
    sandboxRecord({ id: 'sb_5', state: 'stopped', operation: 'starting' }),
    sandboxRecord({ id: 'sb_6', state: 'stopped', operation: 'creating' }),
    poolRecord({ id: 'sb_7' }),
    poolRecord({ id: 'sb_8', state: 'stopped', operation: 'creating' }),
  ];
  for (const row of rows) await store.sandboxes.insert(row);
  health = new HealthService({
    store: store.sandboxes,
    everybody: store.everybody,
    runtime: { capacity: async () => capacity, pausedReason: (id) => (id === 'sb_2' ? 'disk' : null) },
    pool: { min: 1, max: 4 },
    clock: { now: () => time },
    log: { info() {}, warn() {}, error() {} },
  });
});

afterEach(() => {
  health.close();
  vi.useRealTimers();
});

describe('health', () => {
  it('counts sandboxes, also at work on an operation, those that are paused, and those that wait in the pool', async () => {
    expect(await health.look()).toMatchObject({
      capacity,
      sandboxes: { total: 5, started: 3, paused: 1 },
      pool: { ready: 1, min: 1, max: 4 },
      samples: [{ time: 1_000, freeMemoryBytes: 8, freeDiskBytes: 9 }],
      doctor: null,
    });
  });

  it('has samples of the last half hour, and one of this moment', async () => {
    health.begin();
    await vi.advanceTimersByTimeAsync(70 * 30_000);
    expect((await health.look()).samples).toHaveLength(61);
  });

  it('asks the doctor once a minute, whoever asks, and again after a failure', async () => {
    let asked = 0;
    const findings: DoctorFinding[] = [{ name: 'disk', status: 'ok', found: 'enough' }];
    health.examinedBy(async () => {
      if (++asked === 1) throw new Error('no');
      return findings;
    });
    await expect(health.look()).rejects.toThrow('no');
    await Promise.all([health.look(), health.look()]);
    time = 60_999;
    expect(await health.look()).toMatchObject({ doctor: { checkedAt: 1_000, findings } });
    expect(asked).toBe(2);
    time = 61_000;
    expect(await health.look()).toMatchObject({ doctor: { checkedAt: 61_000 } });
    expect(asked).toBe(3);
  });
});
