/**
 * Open files: the kernel charges a machine for each, and for what is behind some of them (of an epoll, a timer, an
 * event) nobody. So a machine that has very many holds nearly as much again.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { limits } from '../../../model/limits.ts';
import { unlessEnded } from './listing.ts';

/** Returns true when the host has more than one machine may have. */
export async function areFilesMany(): Promise<boolean> {
  const [allocated] = (await readFile('/proc/sys/fs/file-nr', 'utf8')).split('\t');
  return Number(allocated) > limits.kernel.openFiles;
}

/** One that several processes have counts for each of them: the kernel does not tell. */
export async function openFilesOf(processes: number[]): Promise<number> {
  let count = 0;
  for (const pid of processes) {
    const folder = `/proc/${pid}/fd`;
    // Before Linux 6.2 the folder does not tell how many there are.
    const told = (await unlessEnded(stat(folder)))?.size;
    count += told || ((await unlessEnded(readdir(folder)))?.length ?? 0);
  }
  return count;
}
