/** Measures and removes the cgroup of one name, in the one hierarchy of version 2 or in the many of version 1. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = '/sys/fs/cgroup';
const REMOVE_TIMEOUT_MS = 15_000;

export function cgroupVersion(): 1 | 2 {
  return existsSync(join(ROOT, 'cgroup.controllers')) ? 2 : 1;
}

/** Returns the kernel's charge to the cgroup and its descendants, page cache included. */
export async function chargedBytes(name: string): Promise<number> {
  const file =
    cgroupVersion() === 2
      ? join(ROOT, name, 'memory.current')
      : join(ROOT, 'memory', name, 'memory.usage_in_bytes');
  return Number(await readFile(file, 'utf8'));
}

/** Killed processes leave their cgroups only after a while; until then these cannot be removed. */
export async function removeCgroups(name: string): Promise<void> {
  const deadline = performance.now() + REMOVE_TIMEOUT_MS;
  const hierarchies =
    cgroupVersion() === 2 ? [ROOT] : (await readdir(ROOT)).map((entry) => join(ROOT, entry));
  for (const folder of hierarchies.map((hierarchy) => join(hierarchy, name)).filter(existsSync)) {
    for (;;) {
      try {
        await removeTree(folder);
        break;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await sleep(100);
      }
    }
  }
}

async function removeTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  }
  await rmdir(folder);
}
