/**
 * Numbers of the host's kernel that all machines share: process ids, threads and open files. Where the host's are low
 * they are raised, as systemd does on most hosts; none is lowered, and none is put back, since others may have come
 * to need it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';

const { kernel } = limits;

/** @returns How many processes and threads all machines may have together, so that the host keeps the rest. */
export async function prepareHostLimits(totalMemoryBytes: number, log: Log): Promise<{ processes: number }> {
  const pidMax = await raise('kernel/pid_max', kernel.pidMax, log);
  await raise('fs/file-max', Math.floor(totalMemoryBytes / kernel.bytesPerOpenFile), log);
  return { processes: processesForMachines(pidMax, await current('kernel/threads-max')) };
}

export function processesForMachines(pidMax: number, threadsMax: number): number {
  return Math.floor(Math.min(pidMax, threadsMax) * kernel.processShare);
}

/** Returns the number in force afterwards. */
async function raise(name: string, wanted: number, log: Log): Promise<number> {
  const before = await current(name);
  if (before >= wanted) return before;
  try {
    await writeFile(`/proc/sys/${name}`, String(wanted));
  } catch (error) {
    // In a container /proc/sys is read-only: then it is for the operator to raise.
    log.warn(`/proc/sys/${name} is low and could not be raised`, { before, wanted, reason: String(error) });
  }
  return current(name);
}

async function current(name: string): Promise<number> {
  return Number(await readFile(`/proc/sys/${name}`, 'utf8'));
}
