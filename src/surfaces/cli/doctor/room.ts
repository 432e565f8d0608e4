/** Whether there is room: disk and memory. */
import { readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GiB, limits } from '../../../model/limits.ts';
import type { Check, Finding } from './doctor.ts';

/** Below this a few full sandboxes use it up. */
const DISK_COMFORT_BYTES = 20 * GiB;
const MEMORY_COMFORT_BYTES = 2 * GiB;

export function roomChecks(dataDir: string): Check[] {
  return [
    { name: 'disk', run: async () => disk(dataDir, await freeDisk(dataDir)) },
    { name: 'memory', run: async () => memory(await readFile('/proc/meminfo', 'utf8')) },
  ];
}

export function disk(dataDir: string, freeBytes: number): Finding {
  const found = `${gib(freeBytes)} free for ${dataDir}`;
  if (freeBytes >= DISK_COMFORT_BYTES) return { status: 'ok', found };
  const low = freeBytes < limits.hostReserveDiskBytes;
  return {
    status: low ? 'fail' : 'warn',
    found,
    advice: low
      ? `Nothing is started below ${gib(limits.hostReserveDiskBytes)}: free some, or choose another --data-dir.`
      : 'Sandbox disks are thin and grow as they are used; mind how much there is.',
  };
}

export function memory(meminfo: string): Finding {
  const available = 1024 * Number(/^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0);
  const found = `${gib(available)} available`;
  if (available >= MEMORY_COMFORT_BYTES) return { status: 'ok', found };
  const low = available < limits.hostReserveMemoryBytes;
  return {
    status: low ? 'fail' : 'warn',
    found,
    advice: `${gib(limits.hostReserveMemoryBytes)} stay reserved for the host; little is left for sandboxes.`,
  };
}

/** Of the nearest folder that is there: a data directory may have to be made yet. */
async function freeDisk(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === dirname(folder)) throw error;
    return freeDisk(dirname(folder));
  }
}

function gib(bytes: number): string {
  return `${(bytes / GiB).toFixed(1)} GiB`;
}
