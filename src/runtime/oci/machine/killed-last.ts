/**
 * Name of the last process that the kernel has killed in a machine for want of memory, from the kernel's log. A program gives its name to
 * itself; the kernel escapes what is no printable character.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Longest record of the log. Source: Linux, kernel/printk/printk.c, PRINTK_MESSAGE_MAX with its escapes. */
const RECORD_BYTES = 8_192;
/** The log may be written faster than it is read. */
const MOST_RECORDS = 100_000;

/** @param group Path of the machine's cgroup below a mount point. Returns null where the log does not say. */
export async function killedLast(group: string): Promise<string | null> {
  const log = await open('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (!log) return null;
  try {
    let name: string | null = null;
    for (let record = 0; record < MOST_RECORDS; record++) {
      const text = await nextRecord(log);
      if (text === null) break;
      name = nameIn(text, group) ?? name;
    }
    return name;
  } finally {
    await log.close();
  }
}

/** Returns the name where the record is of a kill in the group, or in one below it. */
export function nameIn(record: string, group: string): string | null {
  const [, memoryGroup, name] = /oom-kill:.*,task_memcg=(.*?),task=(.*),pid=\d+,uid=\d+/.exec(record) ?? [];
  const isOfGroup = memoryGroup === group || memoryGroup?.startsWith(`${group}/`) === true;
  return isOfGroup ? (name ?? null) : null;
}

/** One read gives one record. Returns null at the end. */
async function nextRecord(log: FileHandle): Promise<string | null> {
  try {
    const { bytesRead, buffer } = await log.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, null);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    // EPIPE: what was to be read has been overwritten.
    return (error as NodeJS.ErrnoException).code === 'EPIPE' ? '' : null;
  }
}
