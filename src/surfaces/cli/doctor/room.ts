/** Checks free disk and memory, and how disks are copied. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { GiB, limits } from '../../../model/limits.ts';
import type { Check, Finding } from './check.ts';

/** A few full sandboxes use up less than this. */
const DISK_COMFORT_BYTES = 20 * GiB;
const MEMORY_COMFORT_BYTES = 2 * GiB;

export function roomChecks(
  dataDir: string,
  { availableMemoryBytes, examineDisks }: Pick<DoctorFacts, 'availableMemoryBytes' | 'examineDisks'>,
): Check[] {
  return [
    {
      name: 'disk',
      async run() {
        const { folder, freeBytes } = await examineDisks(dataDir);
        return disk(dataDir, freeBytes, await disksOf(folder));
      },
    },
    { name: 'copies of disks', run: async () => copies(await examineDisks(dataDir)) },
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

/** Never a failure: without clones all works, and takes longer. */
export function copies({
  folder,
  clones,
}: Pick<Awaited<ReturnType<DoctorFacts['examineDisks']>>, 'folder' | 'clones'>): Finding {
  if (clones === null) return { status: 'ok', found: `not known for ${folder}` };
  if (clones) return { status: 'ok', found: `clones, which share their bytes (${folder})` };
  return {
    status: 'ok',
    found: `byte by byte: the file system of ${folder} has no reflinks`,
    advice:
      'Snapshots and forks stand still meanwhile. A new data directory has clones with `sandhaven up --disk-store xfs`, or on XFS or btrfs.',
  };
}

async function disksOf(disks: string): Promise<Disks> {
  const folder = join(disks, 'sandboxes');
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
