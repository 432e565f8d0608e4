/** Real machines that sleep: frozen by the kernel, woken by a channel, and what a service that is killed in between leaves. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSandboxId } from '../../../src/model/ids.ts';
import { parseHierarchies } from '../../../src/runtime/oci/host/hierarchies.ts';
import { createCgroups } from '../../../src/runtime/oci/machine/cgroups.ts';
import type { OciRuntime } from '../../../src/runtime/oci/runtime.ts';
import { createInstance, execIn, type Instance, removeInstance, runtimeOver } from '../host.ts';

const spec = {
  id: newSandboxId(),
  imageDigest: 'base',
  resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 },
};
const { id } = spec;
let instance: Instance;
let runtime: OciRuntime;

beforeAll(async () => {
  instance = createInstance();
  runtime = runtimeOver(instance);
  await runtime.init();
  await runtime.start(spec, 1);
  await execIn(runtime, id, 'sh -c "while :; do :; done" > /dev/null 2>&1 &');
}, 60_000);

afterAll(async () => {
  await runtime?.close();
  await removeInstance(instance);
}, 60_000);

const cgroups = () =>
  createCgroups(instance.instanceId, parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')));
const note = () => join(instance.runDir, 'runc', id, 'asleep');
const cpuMs = async () => Number((await runtime.usage(id)).cpuMs);

/** Returns the processor time that the machine takes in 300 ms. */
async function worked(): Promise<number> {
  const before = await cpuMs();
  await pause(300);
  return (await cpuMs()) - before;
}

async function nextService(): Promise<void> {
  await runtime.close();
  runtime = runtimeOver(instance);
  await runtime.init();
}

it('takes no processor while it sleeps, and goes on when a channel is opened', async () => {
  expect(await worked()).toBeGreaterThan(20);
  await runtime.sleep?.begin(id, 1_000);
  // The kernel stops the processor of one that runs within a tick.
  await pause(50);
  expect(await worked()).toBe(0);
  expect((await execIn(runtime, id, 'echo awake')).output).toBe('awake\n');
  expect(runtime.sleep?.since(id)).toBeNull();
  expect(await worked()).toBeGreaterThan(20);
});

it('sleeps on when the service is killed after the note, frozen or not', async () => {
  for (const frozen of [true, false]) {
    await runtime.sleep?.wake(id);
    writeFileSync(note(), '1234');
    await cgroups().setFrozen(id, frozen);
    await nextService();
    expect(runtime.sleep?.since(id)).toBe(1_234);
    await pause(50);
    expect(await worked()).toBe(0);
    expect((await execIn(runtime, id, 'echo awake')).output).toBe('awake\n');
  }
});

it('runs when the service is killed in its waking, after the note is gone', async () => {
  await runtime.sleep?.begin(id, 1_000);
  rmSync(note());
  await nextService();
  expect(runtime.sleep?.since(id)).toBeNull();
  expect(await worked()).toBeGreaterThan(20);
});

it('is copied for a backup while it sleeps, and sleeps on', async () => {
  await runtime.sleep?.begin(id, 1_000);
  const { disk } = await runtime.copies.copy(
    id,
    join(instance.dataDir, 'copy'),
    new AbortController().signal,
  );
  expect(disk).not.toBeNull();
  expect(runtime.sleep?.since(id)).toBe(1_000);
  await pause(50);
  expect(await worked()).toBe(0);
});

it('is resized while it sleeps, and wakes to be stopped', async () => {
  await runtime.sleep?.begin(id, 1_000);
  await runtime.resizeLive(id, { ...spec.resources, memory: 2 });
  expect(runtime.sleep?.since(id)).toBe(1_000);
  const begun = performance.now();
  await runtime.stop(id, 20_000);
  // A frozen process would take all of it.
  expect(performance.now() - begun).toBeLessThan(10_000);
  expect(runtime.sleep?.since(id)).toBeNull();
  await runtime.start(spec, 2);
  expect(await worked()).toBeLessThan(200);
});

it('is destroyed while it sleeps', async () => {
  await runtime.sleep?.begin(id, 1_000);
  await runtime.destroy(id);
  expect(await runtime.inspect(id)).toBeNull();
});
