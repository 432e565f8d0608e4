/** Against a real process in a real cgroup; how much room the host has is pretended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskGuard, type DiskGuard } from '../../../src/runtime/oci/disk/disk-guard.ts';
import { createDiskGrowth } from '../../../src/runtime/oci/fairness/disk-growth.ts';
import { parseHierarchies } from '../../../src/runtime/oci/host/hierarchies.ts';
import { type Cgroups, createCgroups } from '../../../src/runtime/oci/machine/cgroups.ts';

const CRITICAL_BYTES = 2 * 1024 ** 3;
const RECENT_MS = 10_000;
const SHORT_BYTES = 4 * 1024 ** 3;
const WATCHED_BYTES = 16 * 1024 ** 3;
const RECENT_GROWTH_BYTES = 64 * 1024 ** 2;
const GROWTH_BYTES = 256 * 1024 ** 2;

const id = 'sb_0123456789abcdef';
const neighbour = 'sb_fedcba9876543210';
const ample = 10 * CRITICAL_BYTES;
let folder: string;
let writers: ChildProcess[];
let cgroups: Cgroups;
let guard: DiskGuard;
let free: number;
/** That the guard has begun. */
let looks: number;
let held: Record<string, number>;
let owners: Record<string, string>;

/** A machine that is one process, which adds a line to the file of its name a hundred times a second. */
function machine(name: string): ChildProcess {
  const child = spawn('sh', ['-c', `while :; do echo >> ${name}; sleep 0.01; done`], { cwd: folder });
  for (const { mountpoint } of parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'))) {
    const group = `${mountpoint}${cgroups.path(name)}`;
    mkdirSync(group, { recursive: true });
    // A v1 cpuset takes no process before it has processors; the groups that matter here all do.
    if (mountpoint.includes('cpuset')) continue;
    writeFileSync(`${group}/cgroup.procs`, String(child.pid));
  }
  return child;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-guard-'));
  cgroups = createCgroups('guard0', parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')));
  writers = [id, neighbour].map(machine);
  free = ample;
  looks = 0;
  held = { [id]: 0, [neighbour]: 0 };
  owners = { [id]: 'mallory', [neighbour]: 'alice' };
  guard = createDiskGuard({
    freeBytes: async () => {
      looks++;
      return free;
    },
    ids: cgroups.present,
    heldBytes: async (name) => held[name] ?? null,
    setFrozen: cgroups.setFrozen,
    owners: { of: (name) => owners[name] ?? name },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
});

afterEach(async () => {
  await guard.close();
  for (const name of await cgroups.ids()) await cgroups.destroy(name);
  await cgroups.purge();
  rmSync(folder, { recursive: true });
});

const count = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
const goesOn = async (name = id) => {
  const before = count(name);
  await sleep(300);
  return count(name) > before + 2;
};
/** A look that begins from now on has ended once the one after it begins. */
const nextLook = () => expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(looks + 1);

describe('while the disk of the host is nearly full', () => {
  it('machines stand still with a reason, and go on when there is room', async () => {
    await guard.begin();
    await expect.poll(() => goesOn()).toBe(true);
    expect(() => guard.assertRunning(id)).not.toThrow();

    free = CRITICAL_BYTES - 1;
    await nextLook();
    expect(await goesOn()).toBe(false);
    expect(() => guard.assertRunning(id)).toThrow(expect.objectContaining({ code: 'resource_exhausted' }));

    // Not at the mark itself, where they would be stopped again at once.
    free = CRITICAL_BYTES;
    await nextLook();
    expect(await goesOn()).toBe(false);

    free = ample;
    await nextLook();
    expect(await goesOn()).toBe(true);
    expect(() => guard.assertRunning(id)).not.toThrow();
  });

  it('a machine that stands still can be destroyed, which makes room', async () => {
    free = 0;
    await guard.begin();
    expect(await cgroups.processes(id)).toContain(writers[0]?.pid);
    await cgroups.destroy(id);
    expect(await cgroups.ids()).not.toContain(id);
  });

  it('a machine that an earlier service left frozen goes on where there is room', async () => {
    await cgroups.setFrozen(id, true);
    expect(await goesOn()).toBe(false);
    await guard.begin();
    expect(await goesOn()).toBe(true);
  });
});

describe('while the disk of the host runs full', () => {
  it('the sandbox that takes it stands still with a reason, the others go on, and all go on when there is room', async () => {
    free = WATCHED_BYTES - 1;
    await guard.begin();
    await expect.poll(() => goesOn(id)).toBe(true);
    await expect.poll(() => goesOn(neighbour)).toBe(true);

    held = { [id]: 2 * RECENT_GROWTH_BYTES, [neighbour]: 0.1 * RECENT_GROWTH_BYTES };
    await nextLook();
    expect([await goesOn(id), await goesOn(neighbour)]).toEqual([true, true]);

    free = SHORT_BYTES - 1;
    await nextLook();
    expect([await goesOn(id), await goesOn(neighbour)]).toEqual([false, true]);
    expect(guard.pausedReason(id)).toContain('this sandbox took most of what was left');
    expect(guard.pausedReason(neighbour)).toBeNull();
    expect(() => guard.assertRunning(id)).toThrow(expect.objectContaining({ code: 'resource_exhausted' }));
    expect(() => guard.assertRunning(neighbour)).not.toThrow();

    // Not at the mark itself, where it would be stopped again at once.
    free = SHORT_BYTES;
    await nextLook();
    expect(await goesOn(id)).toBe(false);

    free = 1.5 * SHORT_BYTES;
    await nextLook();
    expect([await goesOn(id), await goesOn(neighbour)]).toEqual([true, true]);
    expect(guard.pausedReason(id)).toBeNull();
  });

  it('a sandbox that takes it by little and little is found too', async () => {
    free = WATCHED_BYTES - 1;
    await guard.begin();
    const step = GROWTH_BYTES / 4;
    for (let taken = step; taken <= GROWTH_BYTES; taken += step) {
      held = { [id]: taken, [neighbour]: 0 };
      await nextLook();
    }
    // What was taken is longer ago than what counts as recent.
    await sleep(RECENT_MS);
    free = SHORT_BYTES - 1;
    await nextLook();
    expect([await goesOn(id), await goesOn(neighbour)]).toEqual([false, true]);
  }, 30_000);

  it('below the critical mark all stand still, and the one that took it goes on last', async () => {
    free = WATCHED_BYTES - 1;
    await guard.begin();
    held = { [id]: 2 * RECENT_GROWTH_BYTES, [neighbour]: 0 };
    await nextLook();
    free = CRITICAL_BYTES - 1;
    await nextLook();
    expect([await goesOn(id), await goesOn(neighbour)]).toEqual([false, false]);
    free = 2 * CRITICAL_BYTES;
    await nextLook();
    expect([await goesOn(id), await goesOn(neighbour)]).toEqual([false, true]);
  });
});

describe('the growth of disks', () => {
  const MiB = 2 ** 20;
  const grow = (taken: Record<string, number>, of: Record<string, string>): string[] => {
    const growth = createDiskGrowth({ of: (name) => of[name] ?? name });
    growth.add(new Map(Object.keys(taken).map((name) => [name, 0])), 0);
    growth.add(new Map(Object.entries(taken)), 1_000);
    return growth.fastest(new Set());
  };

  it('is counted by owner: ten small ones of one outweigh the larger one of another', () => {
    const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
    const taken = Object.fromEntries(names.map((name) => [name, 100 * MiB]));
    const of = Object.fromEntries(names.map((name) => [name, 'mallory']));
    expect(grow({ ...taken, alice: 150 * MiB }, of).sort()).toEqual(names);
  });

  it('is nobody’s when it is small', () => {
    expect(grow({ a: 10 * MiB, b: 10 * MiB }, {})).toEqual([]);
  });

  it('is that of all owners who share it', () => {
    expect(grow({ a: 100 * MiB, b: 90 * MiB, c: MiB }, {})).toEqual(['a', 'b']);
  });
});
