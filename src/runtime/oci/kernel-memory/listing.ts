/** Bounded reader of tables in /proc whose length a machine decides: line by line, up to a limit. */
import { open, readdir } from 'node:fs/promises';
import { isGone } from '../host/files.ts';

const CHUNK_BYTES = 16 * 1024;

/**
 * Calls `use` with the fields of each line; a missing table has none, and one that disappears ends early. Stops when
 * `isEnough`: the kernel takes seconds for a long table, whose start it searches again at each read.
 * @returns True when the table was read to its end.
 */
export async function eachLine(
  path: string,
  maxBytes: number,
  use: (fields: string[]) => void,
  isEnough: () => boolean = () => false,
): Promise<boolean> {
  const file = await unlessEnded(open(path, 'r'));
  if (!file) return true;
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = '';
    for (let total = 0; total < maxBytes && !isEnough(); ) {
      const bytesRead = (await unlessEnded(file.read(buffer, 0, CHUNK_BYTES, null)))?.bytesRead ?? 0;
      if (bytesRead === 0) return true;
      total += bytesRead;
      const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) use(line.trim().split(/\s+/));
    }
    return false;
  } finally {
    await file.close();
  }
}

/** Returns the value, or null when the process of the file has ended. */
export async function unlessEnded<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/**
 * Returns the folder of a process's descriptors and their names: `fd` or `fdinfo`. Where the first thread has ended and others go on,
 * the kernel shows none at the process itself.
 */
export async function descriptorsOf(
  pid: number,
  kind: 'fd' | 'fdinfo',
): Promise<{ folder: string; names: string[] }> {
  const folder = `/proc/${pid}/${kind}`;
  const names = (await unlessEnded(readdir(folder))) ?? [];
  if (names.length > 0) return { folder, names };
  for (const thread of (await unlessEnded(readdir(`/proc/${pid}/task`))) ?? []) {
    const folder = `/proc/${pid}/task/${thread}/${kind}`;
    const names = (await unlessEnded(readdir(folder))) ?? [];
    if (names.length > 0) return { folder, names };
  }
  return { folder, names };
}
