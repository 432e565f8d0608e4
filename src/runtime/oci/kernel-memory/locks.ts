/**
 * File locks: the kernel counts them for nobody, and bounds them nowhere.
 *
 * Their listing is costly: for each 4 KiB of it the kernel waits until nobody on the host is about to lock. So their
 * number is asked of the allocator, and only where it is large a sample of the listing says whose they are.
 */
import { readFile } from 'node:fs/promises';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../files.ts';
import { eachLine } from './listing.ts';

const { fileLocks, lockSampleBytes, lockListingBytes } = limits.kernel;

/** How many locks each process has, by process id; none where there are few on the whole host. */
export async function lockCounts(): Promise<Map<number, number>> {
  const total = parseLockTotal((await unlessMissing(readFile('/proc/slabinfo', 'latin1'))) ?? '');
  if (total !== null && total <= fileLocks) return new Map();
  const holders: number[] = [];
  // Where the allocator does not tell, having put locks together with other things, they are counted.
  await eachLine('/proc/locks', total === null ? lockListingBytes : lockSampleBytes, (fields) => {
    const pid = holderOf(fields);
    if (pid !== null) holders.push(pid);
  });
  const each = total === null ? 1 : total / holders.length;
  const counts = new Map<number, number>();
  for (const pid of holders) counts.set(pid, (counts.get(pid) ?? 0) + each);
  return counts;
}

/** @param slabinfo Contents of /proc/slabinfo. null when it does not tell. */
export function parseLockTotal(slabinfo: string): number | null {
  const match = /^file_lock_cache +(\d+)/m.exec(slabinfo);
  return match ? Number(match[1]) : null;
}

/** @param fields Of a row of /proc/locks. A row with an arrow is of a process that waits for the lock above it. */
export function holderOf(fields: string[]): number | null {
  const pid = Number(fields[fields[1] === '->' ? 5 : 4]);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}
