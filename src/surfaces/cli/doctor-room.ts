/** Whether there is room: disk, memory, ports. */
import { readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GiB, limits } from '../../model/limits.ts';
import type { Check, Finding } from './doctor.ts';

/** Below this a few full sandboxes use it up. */
const DISK_COMFORT_BYTES = 20 * GiB;
const MEMORY_COMFORT_BYTES = 2 * GiB;

export function roomChecks(dataDir: string, addresses: string[]): Check[] {
  return [
    { name: 'disk', run: async () => disk(dataDir, await freeDisk(dataDir)) },
    { name: 'memory', run: async () => memory(await readFile('/proc/meminfo', 'utf8')) },
    { name: 'ports', run: async () => ports(addresses, await listening()) },
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

/** @param taken Port numbers that something on this machine listens on. */
export function ports(addresses: string[], taken: Set<number>): Finding {
  const busy = addresses.filter((address) => taken.has(Number(address.slice(address.lastIndexOf(':') + 1))));
  if (busy.length === 0) return { status: 'ok', found: `${addresses.join(', ')} free` };
  return {
    status: 'warn',
    found: `in use: ${busy.join(', ')}`,
    advice: 'Fine if that is this service; otherwise give `up` another --listen.',
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

async function listening(): Promise<Set<number>> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return new Set(tables.flatMap(listeningPorts));
}

/** Lines are `sl local_address rem_address st …`; the address ends in `:port` in hex, and state 0A listens. */
export function listeningPorts(table: string): number[] {
  return [...table.matchAll(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /gm)].map((match) =>
    Number.parseInt(match[1] ?? '', 16),
  );
}

function gib(bytes: number): string {
  return `${(bytes / GiB).toFixed(1)} GiB`;
}
