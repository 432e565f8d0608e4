/**
 * Counts of open files. The kernel charges a machine for each, but nobody for the objects behind some of them (epolls,
 * timers, events). So a machine with very many holds nearly as much again.
 */
import { stat } from 'node:fs/promises';
import { limits } from '../../../model/limits.ts';
import { readNow } from '../host/files.ts';
import { descriptorsOf, unlessEnded } from './listing.ts';

/** Returns true when the host has more open files than one machine may. */
export function areFilesMany(): boolean {
  const [allocated] = (readNow('/proc/sys/fs/file-nr') ?? '').split('\t');
  return Number(allocated) > limits.kernel.openFiles;
}

/** Counts a file once for each process that has it, since the kernel does not show shared ones. */
export async function openFilesOf(processes: number[]): Promise<number> {
  let count = 0;
  for (const pid of processes) {
    // Before Linux 6.2 the folder's size does not hold the count.
    const size = (await unlessEnded(stat(`/proc/${pid}/fd`)))?.size;
    count += size || (await descriptorsOf(pid, 'fd')).names.length;
  }
  return count;
}
