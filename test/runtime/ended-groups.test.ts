/** Cgroups of ended machines wait, empty, for a quiet time, and no longer than that. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { newSandboxId } from '../../src/model/ids.ts';
import type { OciRuntime } from '../../src/runtime/oci/runtime.ts';
import {
  cgroupsNamed,
  createInstance,
  type Instance,
  memoryGroupOf,
  removeInstance,
  runtimeOver,
} from './host.ts';

const resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };

let instance: Instance;
let runtime: OciRuntime;
beforeEach(async () => {
  instance = createInstance();
  runtime = runtimeOver(instance);
  await runtime.init();
});
afterEach(async () => {
  await runtime.close();
  await removeInstance(instance);
});

async function started(id = newSandboxId(), generation = 1): Promise<string> {
  await runtime.start({ id, imageDigest: 'base', resources }, generation);
  return id;
}
const groupsOf = (id: string) => cgroupsNamed(`sandhaven-${instance.instanceId}/${id}`);
const waits = (id: string) => existsSync(memoryGroupOf(instance, id));
/** Time of the service's timers stands still until the test lets some pass: a busy host makes no time quiet. */
function standingTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}
const traces = async () => (await runtime.observe()).map(({ id }) => id);

it('a deleted sandbox leaves empty groups, which are no trace, and go in a quiet time', async () => {
  const id = await started();
  await runtime.destroy(id);
  expect(groupsOf(id)).toContain(memoryGroupOf(instance, id));
  for (const group of groupsOf(id)) expect(readFileSync(`${group}/cgroup.procs`, 'utf8')).toBe('');
  expect(await traces()).toEqual([]);
  await expect.poll(() => groupsOf(id)).toEqual([]);
});

it('groups wait while other machines start and end', async () => {
  standingTime();
  const first = await started();
  await runtime.destroy(first);
  for (let round = 0; round < 3; round++) {
    vi.advanceTimersByTime(200);
    const other = await started();
    vi.advanceTimersByTime(200);
    await runtime.destroy(other);
  }
  vi.advanceTimersByTime(299);
  expect(waits(first)).toBe(true);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await expect.poll(() => groupsOf(first)).toEqual([]);
});

it('a machine that starts again gets a new group', async () => {
  const id = await started();
  const used = memoryGroupOf(instance, id);
  await runtime.stop(id, 500);
  expect(waits(id)).toBe(true);
  await started(id, 2);
  expect(await runtime.inspect(id)).toMatchObject({ runningGeneration: 2 });
  // Longer than the old one would have waited.
  await sleep(1_000);
  expect(existsSync(used)).toBe(true);
  expect(await runtime.inspect(id)).toMatchObject({ runningGeneration: 2 });
});

it('a process that is in such a group all the same lives on', async () => {
  standingTime();
  const id = await started();
  await runtime.stop(id, 0);
  const process = spawn('sleep', ['60'], { stdio: 'ignore' });
  onTestFinished(() => void process.kill());
  writeFileSync(`${memoryGroupOf(instance, id)}/cgroup.procs`, String(process.pid));
  vi.advanceTimersByTime(300);
  vi.useRealTimers();
  await sleep(1_000);
  expect([process.exitCode, process.signalCode]).toEqual([null, null]);
  expect(waits(id)).toBe(true);
});

it('a service that ends leaves none', async () => {
  standingTime();
  const ids = [await started(), await started()];
  for (const id of ids) await runtime.stop(id, 0);
  expect(ids.map(waits)).toEqual([true, true]);
  await runtime.close();
  expect(ids.map(waits)).toEqual([false, false]);
});

it('the next boot takes on what a killed service has left, and no group of a machine that runs', async () => {
  const running = await started();
  await runtime.close();
  const left = newSandboxId();
  mkdirSync(memoryGroupOf(instance, left));
  runtime = runtimeOver(instance);
  await runtime.init();
  expect(await traces()).toEqual([running]);
  await expect.poll(() => waits(left)).toBe(false);
  expect(await runtime.inspect(running)).toMatchObject({ runningGeneration: 1 });
});
