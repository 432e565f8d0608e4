/** Kept steps of builds: each owner's own, within bounds, and never dropped under a build that starts from them. */
import { beforeEach, expect, it } from 'vitest';
import { StepCache } from '../../../src/control/builds/step-cache.ts';
import type { CapturedDisks } from '../../../src/control/ports/index.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const GiB = 1024 ** 3;
const disks = new Set<string>();
let now = 1;
let cache: StepCache;

const runtime = {
  drop: async (id: string) => void disks.delete(id),
  sizeOf: async (id: string) => (disks.has(id) ? 1 : null),
  release: () => {},
} as unknown as CapturedDisks;

const keep = async (owner: string, key: string, captureId: string, sizeBytes = GiB) => {
  disks.add(captureId);
  now += 1;
  await cache.keep(runtime, owner, key, { captureId, sizeBytes });
};
const keepAndLeave = async (owner: string, key: string, captureId: string, sizeBytes = GiB) => {
  await keep(owner, key, captureId, sizeBytes);
  await cache.release(runtime, [captureId]);
};
const find = async (owner: string, key: string) => {
  now += 1;
  return (await cache.find(runtime, owner, key))?.captureId ?? null;
};

beforeEach(() => {
  disks.clear();
  cache = new StepCache({ store: memoryStore().buildSteps, clock: { now: () => now }, log: { warn() {} } });
});

it('are found by their owner alone', async () => {
  await keepAndLeave('ann', 'key', 'step_a');
  expect(await find('ann', 'key')).toBe('step_a');
  expect(await find('bob', 'key')).toBeNull();
  expect(await find('ann', 'other')).toBeNull();
});

it('of one key there is one: the newer, and the older one goes when its builds have ended', async () => {
  await keep('ann', 'key', 'step_a');
  await keepAndLeave('ann', 'key', 'step_b');
  expect(await find('ann', 'key')).toBe('step_b');
  expect([...disks]).toEqual(['step_a', 'step_b']);
  await cache.release(runtime, ['step_a']);
  expect([...disks]).toEqual(['step_b']);
});

it('those that were used longest ago go first, by bytes and by number, and never one that a build holds', async () => {
  for (let step = 1; step <= 4; step++) await keepAndLeave('ann', `key${step}`, `step_${step}`, 10 * GiB);
  await find('ann', 'key1');
  await cache.release(runtime, ['step_1']);
  await keep('ann', 'key5', 'step_5', 15 * GiB);
  expect([...disks]).toEqual(['step_1', 'step_4', 'step_5']);
  await keepAndLeave('bob', 'key', 'step_bob', 40 * GiB);
  expect(disks.has('step_1')).toBe(true);
  for (let step = 6; step <= 210; step++) await keepAndLeave('ann', `key${step}`, `step_${step}`, 1);
  expect(disks.size).toBe(201);
  expect(disks.has('step_5')).toBe(true);
});

it('all go that no build holds when the host is short of room', async () => {
  await keepAndLeave('ann', 'key', 'step_a');
  await keepAndLeave('bob', 'key', 'step_b');
  await keep('bob', 'held', 'step_c');
  await cache.clear(runtime);
  expect([...disks]).toEqual(['step_c']);
  expect(await find('ann', 'key')).toBeNull();
  expect(await find('bob', 'held')).toBe('step_c');
});

it('one without its disk is none', async () => {
  await keepAndLeave('ann', 'key', 'step_a');
  disks.clear();
  expect(await find('ann', 'key')).toBeNull();
  await keepAndLeave('ann', 'key', 'step_b');
  expect(await find('ann', 'key')).toBe('step_b');
});
