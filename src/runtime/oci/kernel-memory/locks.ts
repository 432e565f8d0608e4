/**
 * Counts of file locks, which the kernel charges to nobody and does not bound.
 *
 * The host's list of locks (/proc/locks) cannot assign them: while the kernel writes a page of it, nobody gets a lock,
 * and the process that it names may have ended and left its lock to one that shares its descriptors, and its id to a
 * stranger. So when the host has many locks, a census counts them. Where the kernel allows none, they are counted through the
 * descriptors of each machine, which leaves out those of files that nothing but a mapping, a message or a call keeps open.
 */
import { readFile } from 'node:fs/promises';
import { mapBounded } from '../../../concurrency/in-portions.ts';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import { readNow, unlessMissing } from '../host/files.ts';
import { runLauncher } from '../host/helper.ts';
import { uidBaseOf, uidsPerSlot } from '../host/plan.ts';
import type { Slots } from '../network/slots-port.ts';
import { descriptorsOf, eachLine } from './listing.ts';

const { kernel } = limits;

/** Kind of a lock that belongs to an open file, in its row. */
const OF_OPEN_FILE = 'OFDLCK';

/** Descriptors read at once. */
const AT_ONCE = 16;

/** Resolves to the machines' counts; null where the kernel allows no census. */
export type LockCensus = (ids: string[]) => Promise<Map<string, number> | null>;

/**
 * Returns counts of machines' locks, each count once.
 * @param haveWorked False where no machine has done anything since the call before.
 */
export type LockCounts = (ids: string[], haveWorked: boolean) => Promise<Map<string, number>>;

/**
 * Counts in the background: a call returns the counts that are finished, and none while the host has few locks. After a
 * long count, the next one is delayed.
 */
export function createLockCounts(
  processesOf: (id: string) => Promise<number[]>,
  census: LockCensus,
): LockCounts {
  let counting: Promise<void> | null = null;
  let failure: unknown = null;
  let counts = new Map<string, number>();
  let nextAt = 0;
  /** Calls before which machines had worked, and the last of them after which the host had few locks. */
  let works = 0;
  let fewAfter = -1;

  async function count(ids: string[]): Promise<void> {
    const after = works;
    if (!(await areMany())) {
      fewAfter = after;
      return;
    }
    const begun = performance.now();
    const counted = await census(ids);
    for (const id of counted?.keys() ?? ids) {
      const locks = counted?.get(id) ?? (await locksOf(await processesOf(id)));
      // A call may have taken the earlier counts meanwhile.
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

  return async (ids, haveWorked) => {
    if (haveWorked) works += 1;
    const [failed, given] = [failure, counts];
    [failure, counts] = [null, new Map()];
    if (failed !== null) throw failed;
    // Only after machines over the bound by these counts were ended: they would be counted and ended again.
    const isDue = fewAfter !== works && performance.now() >= nextAt;
    if (given.size === 0 && counting === null && isDue) begin(ids);
    return given;
  };
}

/** Returns true when the host has more locks than one machine may. */
async function areMany(): Promise<boolean> {
  const total =
    lockObjects() ?? parseLockTotal((await unlessMissing(readFile('/proc/slabinfo', 'latin1'))) ?? '');
  if (total !== null) return total > kernel.fileLocks;
  let listed = 0;
  await eachLine('/proc/locks', kernel.lockListingBytes, () => {
    listed += 1;
  });
  return listed > kernel.fileLocks;
}

/**
 * Returns the slab allocator's count of locks and leases, null on a kernel that shows none here. Reading it takes
 * microseconds; all caches together, in /proc/slabinfo, take the kernel milliseconds.
 */
function lockObjects(): number | null {
  const [locks, leases] = ['lock', 'lease'].map((kind) =>
    readNow(`/sys/kernel/slab/file_${kind}_cache/objects`),
  );
  return locks ? Number.parseInt(locks, 10) + Number.parseInt(leases || '0', 10) : null;
}

/** @param slabinfo Content of /proc/slabinfo. Returns null when it has no count. Newer kernels list leases apart. */
export function parseLockTotal(slabinfo: string): number | null {
  const [locks, leases] = ['lock', 'lease'].map((kind) =>
    new RegExp(`^file_${kind}_cache +(\\d+)`, 'm').exec(slabinfo),
  );
  return locks ? Number(locks[1]) + Number(leases?.[1] ?? 0) : null;
}

/** Counts the locks of processes together; above a machine's bound the count is incomplete. */
export async function locksOf(processes: number[]): Promise<number> {
  /**
   * Keys of number and row, which are equal in all processes that share or have inherited a descriptor. The row of an open
   * file's lock names no process: strangers' rows may be equal, so it counts for each process that has the descriptor.
   */
  const locks = new Set<string>();
  for (const pid of processes) {
    const { folder, names } = await descriptorsOf(pid, 'fdinfo');
    await mapBounded(names, AT_ONCE, async (descriptor) => {
      if (locks.size > kernel.fileLocks) return;
      await eachLine(`${folder}/${descriptor}`, kernel.lockListingBytes, ([field, , ...row]) => {
        if (field !== 'lock:') return;
        const holder = row[0] === OF_OPEN_FILE ? pid : '';
        locks.add(`${holder} ${descriptor} ${row.join(' ')}`);
      });
    });
    if (locks.size > kernel.fileLocks) break;
  }
  return locks.size;
}

interface LockCensusDependencies {
  launcherPath: string;
  slots: Pick<Slots, 'get'>;
  log: Log;
}

/** Counts locks by the user who opened the locked file (`native/launcher/src/locks`): each slot has users of its own. */
export function createLockCensus({ launcherPath, slots, log }: LockCensusDependencies): LockCensus {
  let isKnownToFail = false;

  async function slotsOf(ids: string[]): Promise<Map<string, number>> {
    const found = await Promise.all(ids.map(async (id) => [id, await slots.get(id)] as const));
    return new Map(found.flatMap(([id, slot]) => (slot ? [[id, slot.index]] : [])));
  }

  async function countBySlot(): Promise<Map<number, number>> {
    const counts = new Map<number, number>();
    await runLauncher(launcherPath, ['count-locks', String(uidBaseOf(0)), String(uidsPerSlot)], {
      timeoutMs: limits.kernel.lockCountTimeoutMs,
      onLine(line) {
        const [slot, count] = line.split(' ').map(Number);
        counts.set(Number(slot), Number(count));
      },
    });
    return counts;
  }

  return async (ids) => {
    const before = await slotsOf(ids);
    const counts = await countBySlot().catch((error: unknown) => {
      if (!isKnownToFail) log.warn('file locks are counted through descriptors alone', { error });
      isKnownToFail = true;
      return null;
    });
    if (!counts) return null;
    // A slot that has changed hands meanwhile may have been counted with the locks of the one before.
    const after = await slotsOf(ids);
    const held = [...after].filter(([id, slot]) => before.get(id) === slot);
    return new Map(held.map(([id, slot]) => [id, counts.get(slot) ?? 0]));
  };
}
