/**
 * Kernel limits of the host that all machines share: process ids, threads and open files. Low ones are raised, as
 * systemd does on most hosts; none is lowered, and none is restored, since other programs may need it by then.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';

const { kernel } = limits;

/** @returns Bound on processes and threads of all machines together; the host keeps the rest. */
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
    // In a container /proc/sys is read-only; the operator has to raise it.
    log.warn(`/proc/sys/${name} is low and could not be raised`, { before, wanted, reason: String(error) });
  }
  return current(name);
}

async function current(name: string): Promise<number> {
  return Number(await readFile(`/proc/sys/${name}`, 'utf8'));
}
