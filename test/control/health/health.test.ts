/** Health of the service: what it counts, its history, and how often the doctor is asked. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DoctorFinding } from '../../../src/control/live/health.ts';
import { HealthService } from '../../../src/control/live/health.ts';
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

  it('at a glance waits for no doctor, and asks for newer findings once a minute at most', async () => {
    let asked = 0;
    const running = Promise.withResolvers<DoctorFinding[]>();
    health.examinedBy(() => {
      asked++;
      return running.promise;
    });
    expect(await health.glance()).toMatchObject({ sandboxes: { total: 5 }, doctor: null });
    time = 200_000;
    expect(await health.glance()).toMatchObject({ doctor: null });
    expect(asked).toBe(1);
    const findings: DoctorFinding[] = [{ name: 'disk', status: 'ok', found: 'enough' }];
    running.resolve(findings);
    await running.promise;
    await expect.poll(async () => (await health.glance()).doctor).toEqual({ checkedAt: 1_000, findings });
    await expect.poll(() => asked).toBe(2);
  });

  it('at a glance asks a doctor that fails once a minute, too', async () => {
    let asked = 0;
    health.examinedBy(() => {
      asked++;
      return Promise.reject(new Error('no'));
    });
    for (const now of [1_000, 6_000, 60_999]) {
      time = now;
      expect(await health.glance()).toMatchObject({ doctor: null });
    }
    expect(asked).toBe(1);
    time = 61_000;
    await health.glance();
    expect(asked).toBe(2);
  });

  it('keeps at most 500 characters of each text of a finding, and 40 findings', async () => {
    const long = 'x'.repeat(5_000);
    health.examinedBy(async () =>
      Array.from({ length: 60 }, () => ({ name: 'disk', status: 'fail', found: long, advice: long })),
    );
    const { doctor } = await health.look();
    expect(doctor?.findings).toHaveLength(40);
    expect(doctor?.findings[0]).toEqual({
      ...{ name: 'disk', status: 'fail', found: 'x'.repeat(500), advice: 'x'.repeat(500) },
    });
  });
});
