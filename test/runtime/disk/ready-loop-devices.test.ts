/** Loop devices have their bounds before a machine takes them: 16 requests at once, of 128 KiB each. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createHelpers } from '../../../src/runtime/oci/host/helper.ts';
import { createInstance, launcherPath, removeInstance, runtimeOver } from '../host.ts';

/** The free device that the kernel gives next. */
const nextFree = () =>
  Number(execFileSync('losetup', ['--find'], { encoding: 'utf8' }).trim().replace('/dev/loop', ''));
const bound = (device: number, name: string) =>
  Number(readFileSync(`/sys/block/loop${device}/queue/${name}`, 'utf8'));
const bounds = (device: number) =>
  existsSync(`/sys/block/loop${device}`) && [bound(device, 'nr_requests'), bound(device, 'max_sectors_kb')];

it('the launcher makes those that come next ready, and makes devices where there are fewer', async () => {
  const helpers = createHelpers(launcherPath, () => []);
  const first = nextFree();
  const all = Array.from({ length: 64 }, (_, index) => first + index);
  await helpers.run(launcherPath, ['ready-loop-devices', '64'], { timeoutMs: 30_000 });
  // Those that somebody uses keep what they have.
  const free = all.filter((device) => !existsSync(`/sys/block/loop${device}/loop`));
  expect(free.length).toBeGreaterThan(0);
  expect(free.map(bounds)).toEqual(free.map(() => [16, 128]));
});

it('a runtime makes the first ready when it starts', async () => {
  const instance = createInstance();
  const runtime = runtimeOver(instance);
  onTestFinished(async () => {
    await runtime.close();
    await removeInstance(instance);
  });
  await runtime.init();
  await expect.poll(() => bounds(nextFree())).toEqual([16, 128]);
});
