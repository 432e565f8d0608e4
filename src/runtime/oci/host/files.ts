/** File system functions beyond node:fs. All paths are the host's own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  // cgroupfs answers ENODEV for a group that went away while its file was open.
  return code === 'ENOENT' || code === 'ENODEV';
}

/** Returns the value, or null when the file does not exist. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** True when the file is missing, or the process that a file of /proc tells of has ended. */
export function isGone(error: unknown): boolean {
  return isMissing(error) || ['ESRCH', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Reads a file that the kernel makes as it is read, such as those of cgroups and of /proc: at once, since the thread pool takes
 * several times as long, and accesses of the disk wait in its queue. As UTF-8, which Node reads in one step and without a buffer of
 * 64 KiB for each file, whose size the kernel does not know. Returns null when it is gone.
 */
export function readNow(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Writes an existing file of cgroups, at once as `readNow` reads one. Returns false when it is gone. */
export function writeNow(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'r+' });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Makes names in a folder, or a file's contents, survive a power cut. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Renames a finished file into place: readers see the old file or the whole new one. */
export async function commit(partial: string, path: string): Promise<void> {
  await sync(partial);
  await rename(partial, path);
  await sync(dirname(path));
}

/** Removes a file durably; a missing one is no error. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await unlessMissing(sync(dirname(path)));
}
