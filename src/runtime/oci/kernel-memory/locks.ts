/**
 * File locks: the kernel counts them for nobody, and bounds them nowhere.
 *
 * The host's listing of them (/proc/locks) is of no use here: nobody gets a lock while a page of it is written, and
 * the process that it names may have ended and left its lock to one that shares its descriptors, and its id to a
 * stranger. So where there are many on the host, the descriptors of each machine are asked for theirs.
 */
import { readdir, readFile } from 'node:fs/promises';
import { limits } from '../../../model/limits.ts';
import { mapBounded } from '../../map-bounded.ts';
import { unlessMissing } from '../host/files.ts';
import { eachLine, unlessEnded } from './listing.ts';

const { kernel } = limits;

/** Descriptors that are asked at once. */
const AT_ONCE = 16;

/** Counts of machines' locks, each given once. */
export type LockCounts = (ids: string[]) => Promise<Map<string, number>>;

/**
 * Nobody waits for the counts: they are given when they are there, and none while there are few locks on the host. After a
 * long count there is none for a while.
 */
export function createLockCounts(processesOf: (id: string) => Promise<number[]>): LockCounts {
  let counting: Promise<void> | null = null;
  let failure: unknown = null;
  let counts = new Map<string, number>();
  let nextAt = 0;

  async function count(ids: string[]): Promise<void> {
    if (!(await areMany())) return;
    const begun = performance.now();
    for (const id of ids) {
      const locks = await locksOf(await processesOf(id));
      // Those of before may have been given meanwhile.
      counts.set(id, locks);
    }
    nextAt = performance.now() + kernel.lockCountPause * (performance.now() - begun);
  }

  function begin(ids: string[]): void {
    counting = count(ids)
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        counting = null;
      });
  }

  return async (ids) => {
    const [failed, given] = [failure, counts];
    [failure, counts] = [null, new Map()];
    if (failed !== null) throw failed;
    // Not before those whom these counts end have ended: they would be counted once more, and end once more.
    if (given.size === 0 && counting === null && performance.now() >= nextAt) begin(ids);
    return given;
  };
}

/** Returns true when the host has more than one machine may have: by the allocator's figure, or by a count without one. */
async function areMany(): Promise<boolean> {
  const told = parseLockTotal((await unlessMissing(readFile('/proc/slabinfo', 'latin1'))) ?? '');
  if (told !== null) return told > kernel.fileLocks;
  let listed = 0;
  await eachLine('/proc/locks', kernel.lockListingBytes, () => {
    listed += 1;
  });
  return listed > kernel.fileLocks;
}

/** @param slabinfo Contents of /proc/slabinfo. null when it does not tell. Leases are kept apart, on newer kernels. */
export function parseLockTotal(slabinfo: string): number | null {
  const [locks, leases] = ['lock', 'lease'].map((kind) =>
    new RegExp(`^file_${kind}_cache +(\\d+)`, 'm').exec(slabinfo),
  );
  return locks ? Number(locks[1]) + Number(leases?.[1] ?? 0) : null;
}

/** Counts the locks of processes together, up to one more than a machine may have. */
export async function locksOf(processes: number[]): Promise<number> {
  /** A descriptor that processes share, or have inherited, has one number and one row in all of them. */
  const locks = new Set<string>();
  for (const pid of processes) {
    const folder = `/proc/${pid}/fdinfo`;
    const descriptors = (await unlessEnded(readdir(folder))) ?? [];
    await mapBounded(descriptors, AT_ONCE, async (descriptor) => {
      if (locks.size > kernel.fileLocks) return;
      await eachLine(`${folder}/${descriptor}`, kernel.lockListingBytes, ([field, , ...row]) => {
        if (field === 'lock:') locks.add(`${descriptor} ${row.join(' ')}`);
      });
    });
    if (locks.size > kernel.fileLocks) break;
  }
  return locks.size;
}
