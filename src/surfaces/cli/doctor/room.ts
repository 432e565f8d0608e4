/** Checks free disk and memory, and how disks are copied. */
import { access, constants, readdir, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

// Checks the data directory: writable, private, and on a file system that can hold sandboxes' file systems.

const ELSEWHERE = 'Give a directory on a disk of this machine with --data-dir (SANDHAVEN_DATA_DIR).';

/** File systems, by magic number, whose files cannot be shown to a sandbox under its own user ids. */
const unfit = new Map([
  [0x794c7630, 'an overlay, as the root of a container is'],
  [0x6969, 'NFS'],
  [0xff534d42, 'a Windows share'],
  [0x517b, 'a Windows share'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9p'],
  [0x858458f6, 'ramfs'],
]);

export function dataChecks(dataDir: string, facts: Pick<DoctorFacts, 'otherService'>): Check[] {
  return [{ name: 'data directory', neededByUp: true, run: () => dataDirectory(dataDir, facts) }];
}

export async function dataDirectory(
  dataDir: string,
  { otherService }: Pick<DoctorFacts, 'otherService'>,
): Promise<Finding> {
  const { path, exists } = await nearest(dataDir);
  const fail = (found: string, advice: string): Finding => ({ status: 'fail', found, advice });
  const found = await stat(path);
  if (!found.isDirectory()) return fail(`${path} is a file`, ELSEWHERE);
  const refused = await access(path, constants.W_OK).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (refused === 'EROFS') return fail(`${path} is on a file system that is read-only`, ELSEWHERE);
  if (refused !== null) return fail(`${path} cannot be written (${refused})`, ELSEWHERE);
  const kind = unfit.get((await statfs(path)).type);
  if (kind !== undefined) {
    const advice = `Sandboxes' file systems cannot be made on it. In a container, mount a volume there. ${ELSEWHERE}`;
    return fail(`${path} is on ${kind}`, advice);
  }
  if (exists && (found.mode & 0o077) !== 0 && (await readdir(path)).length > 0) {
    return fail(`other users can enter ${path}`, `Run: chmod 700 ${path} – or give another with --data-dir.`);
  }
  const other = exists ? otherService(await realpath(path)) : null;
  if (other !== null) return fail(other.found, other.advice);
  return { status: 'ok', found: exists ? path : `${dataDir}, to be made in ${path}` };
}

/** Returns the directory, or its nearest existing ancestor. */
async function nearest(path: string, exists = true): Promise<{ path: string; exists: boolean }> {
  const there = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return there || path === dirname(path) ? { path, exists } : nearest(dirname(path), false);
}
