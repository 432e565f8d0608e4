/** Checks free disk and memory. */
import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { GiB, limits } from '../../../model/limits.ts';
import type { Check, Finding } from './check.ts';

/** A few full sandboxes use up less than this. */
const DISK_COMFORT_BYTES = 20 * GiB;
const MEMORY_COMFORT_BYTES = 2 * GiB;

export function roomChecks(
  dataDir: string,
  { availableMemoryBytes }: Pick<DoctorFacts, 'availableMemoryBytes'>,
): Check[] {
  return [
    { name: 'disk', run: async () => disk(dataDir, await freeDisk(dataDir), await disksOf(dataDir)) },
    { name: 'memory', run: async () => memory(await availableMemoryBytes()) },
  ];
}

/** Totals over the disks of sandboxes: their maximum sizes, and the space that they take. */
export interface Disks {
  promisedBytes: number;
  heldBytes: number;
}

const NO_DISKS: Disks = { promisedBytes: 0, heldBytes: 0 };

export function disk(dataDir: string, freeBytes: number, disks = NO_DISKS): Finding {
  const found = `${gib(freeBytes)} free for ${dataDir}`;
  const mayGrow = disks.promisedBytes - disks.heldBytes;
  if (freeBytes >= DISK_COMFORT_BYTES && mayGrow <= freeBytes) return { status: 'ok', found };
  if (freeBytes >= DISK_COMFORT_BYTES) {
    return {
      status: 'warn',
      found: `${found}; sandbox disks take ${gib(disks.heldBytes)} and may grow by ${gib(mayGrow)}`,
      advice:
        'Disks are overcommitted: when the disk runs full, sandboxes that take most of it are paused. See --disk-overcommit and --quota-disk-gb.',
    };
  }
  const low = freeBytes < limits.hostReserveDiskBytes;
  return {
    status: low ? 'fail' : 'warn',
    found,
    advice: low
      ? `Nothing is started below ${gib(limits.hostReserveDiskBytes)}: free some, or choose another --data-dir.`
      : 'Sandbox disks are thin and grow as they are used; watch the free space.',
  };
}

export function memory(availableBytes: number): Finding {
  const found = `${gib(availableBytes)} available`;
  if (availableBytes >= MEMORY_COMFORT_BYTES) return { status: 'ok', found };
  const low = availableBytes < limits.hostReserveMemoryBytes;
  return {
    status: low ? 'fail' : 'warn',
    found,
    advice: `${gib(limits.hostReserveMemoryBytes)} stay reserved for the host; little is left for sandboxes.`,
  };
}

/** Measures the nearest existing folder: the data directory may not exist yet. */
async function freeDisk(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === dirname(folder)) throw error;
    return freeDisk(dirname(folder));
  }
}

async function disksOf(dataDir: string): Promise<Disks> {
  const folder = join(dataDir, 'sandboxes');
  const names = await readdir(folder).catch(() => []);
  const sum = { ...NO_DISKS };
  for (const name of names) {
    const found = await stat(join(folder, name, 'disk.img')).catch(() => null);
    sum.promisedBytes += found?.size ?? 0;
    sum.heldBytes += 512 * (found?.blocks ?? 0);
  }
  return sum;
}

function gib(bytes: number): string {
  return `${(bytes / GiB).toFixed(1)} GiB`;
}
