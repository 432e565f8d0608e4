/** The machines' part of the memory, disk space and open files of this host. */
import { readFile, stat, statfs } from 'node:fs/promises';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from './files.ts';

/** Memory for all machines together. A small host keeps an eighth for itself instead of the whole reserve. */
export function memoryForMachines(totalBytes: number): number {
  return totalBytes - Math.min(limits.hostReserveMemoryBytes, Math.floor(totalBytes / 8));
}

export async function freeDiskBytes(path: string): Promise<number> {
  return (await diskSpace(path)).freeBytes;
}

/** Returns the size of the file system, and what of it may still be written. */
export async function diskSpace(path: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Returns the bytes that a sparse file takes; null for no file. */
export async function allocatedBytes(path: string): Promise<number | null> {
  const found = await unlessMissing(stat(path));
  return found && found.blocks * 512;
}

/** Hard limit of open files of this process; a machine's cannot exceed it. */
export async function maxOpenFiles(): Promise<number> {
  const match = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(await readFile('/proc/self/limits', 'utf8'));
  const value = match?.[1];
  return value === undefined || value === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(value);
}
