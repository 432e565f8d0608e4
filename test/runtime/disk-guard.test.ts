/** Against a real process in a real cgroup; how much room the host has is pretended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { type Cgroups, createCgroups } from '../../src/runtime/oci/cgroups.ts';
import { createDiskGuard, type DiskGuard } from '../../src/runtime/oci/disk-guard.ts';
import { parseHierarchies } from '../../src/runtime/oci/hierarchies.ts';

const id = 'sb_0123456789abcdef';
const ample = 10 * limits.hostCriticalDiskBytes;
let folder: string;
let writer: ChildProcess;
let cgroups: Cgroups;
let guard: DiskGuard;
let free: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-guard-'));
  const hierarchies = parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
  cgroups = createCgroups('guard0', hierarchies);
  writer = spawn('sh', ['-c', 'while :; do echo >> count; sleep 0.01; done'], { cwd: folder });
  for (const { mountpoint } of hierarchies) {
    const group = `${mountpoint}${cgroups.path(id)}`;
    mkdirSync(group, { recursive: true });
    // A v1 cpuset takes no process before it has processors; the groups that matter here all do.
    if (mountpoint.includes('cpuset')) continue;
    writeFileSync(`${group}/cgroup.procs`, String(writer.pid));
  }
  free = ample;
  guard = createDiskGuard({
    freeBytes: async () => free,
    setFrozen: async (frozen) => {
      for (const machine of await cgroups.ids()) await cgroups.setFrozen(machine, frozen);
    },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
});

afterEach(async () => {
  await guard.close();
  await cgroups.destroy(id);
  await cgroups.purge();
  rmSync(folder, { recursive: true });
});

const count = () => statSync(join(folder, 'count'), { throwIfNoEntry: false })?.size ?? 0;
const goesOn = async () => {
  const before = count();
  await sleep(300);
  return count() > before + 2;
};
const nextLook = () => sleep(limits.diskGuardIntervalMs + 500);

describe('while the disk of the host is nearly full', () => {
  it('machines stand still and say so, and go on when there is room', async () => {
    await guard.begin();
    await expect.poll(goesOn).toBe(true);
    expect(() => guard.assertRunning()).not.toThrow();

    free = limits.hostCriticalDiskBytes - 1;
    await nextLook();
    expect(await goesOn()).toBe(false);
    expect(() => guard.assertRunning()).toThrow(expect.objectContaining({ code: 'resource_exhausted' }));

    // Not at the mark itself, where they would be stopped again at once.
    free = limits.hostCriticalDiskBytes;
    await nextLook();
    expect(await goesOn()).toBe(false);

    free = ample;
    await nextLook();
    expect(await goesOn()).toBe(true);
    expect(() => guard.assertRunning()).not.toThrow();
  });

  it('a machine that stands still can be destroyed, which makes room', async () => {
    free = 0;
    await guard.begin();
    expect(await cgroups.processes(id)).toContain(writer.pid);
    await cgroups.destroy(id);
    expect(await cgroups.ids()).not.toContain(id);
  });

  it('what an earlier service left frozen goes on where there is room', async () => {
    await cgroups.setFrozen(id, true);
    expect(await goesOn()).toBe(false);
    await guard.begin();
    expect(await goesOn()).toBe(true);
  });
});
