/**
 * Size of this host, its memory, disk space, processes and open files, and the machines' part of them. A container may have
 * less memory than its host (`docker run --memory`): the mounted hierarchy begins with the container's group then.
 */
import { readFile, stat, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import type { Log } from '../../../control/ports/index.ts';
import { GiB, limits } from '../../../model/limits.ts';
import type { MachineSize } from '../../../model/quota.ts';
import { readNow, unlessMissing } from './files.ts';
import type { Hierarchy } from './hierarchies.ts';
import { dataDirAround } from './layout.ts';

export interface Memory {
  totalBytes: number;
  availableBytes: number;
}

/** Limit, use, and the key of memory.stat for files that the kernel gives up when memory is short. */
const FILES = {
  1: { limit: 'memory.limit_in_bytes', used: 'memory.usage_in_bytes', files: 'total_inactive_file' },
  2: { limit: 'memory.max', used: 'memory.current', files: 'inactive_file' },
};

const { kernel } = limits;

/** Returns the size from which members' default quotas are derived. @param folder Any folder on the disk to measure. */
export async function machineSize(folder: string): Promise<MachineSize> {
  const { totalBytes } = await diskSpace(folder);
  return { processors: availableParallelism(), memoryGb: totalmem() / GiB, diskGb: totalBytes / GiB };
}

/** @param hierarchy The one that limits memory; null when none does. */
export function hostMemory(hierarchy: Hierarchy | null): Memory {
  const host = parseMeminfo(readNow('/proc/meminfo') ?? '');
  const limits = hierarchy && memoryOfGroup(hierarchy);
  if (limits === null) return host;
  return {
    totalBytes: Math.min(host.totalBytes, limits.totalBytes),
    availableBytes: Math.min(host.availableBytes, limits.availableBytes),
  };
}

export function parseMeminfo(text: string): Memory {
  const bytes = (name: string): number => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
    if (!match) throw new Error(`/proc/meminfo has no ${name}`);
    return Number(match[1]) * 1024;
  };
  return { totalBytes: bytes('MemTotal'), availableBytes: bytes('MemAvailable') };
}

/** Returns null for a group without a limit: on v2 `max` or no file, on v1 a number beyond every host. */
export function memoryOfGroup({ mountpoint, version }: Hierarchy): Memory | null {
  const { limit, used, files } = FILES[version];
  const read = (name: string) => readNow(`${mountpoint}/${name}`);
  const totalBytes = Number(read(limit) ?? Number.NaN);
  if (!Number.isSafeInteger(totalBytes)) return null;
  const given = new RegExp(`^${files} (\\d+)$`, 'm').exec(read('memory.stat') ?? '');
  const inUse = Number(read(used) ?? 0) - Number(given?.[1] ?? 0);
  return { totalBytes, availableBytes: Math.max(0, totalBytes - inUse) };
}

/** Memory for all machines together. A small host keeps an eighth for itself instead of the whole reserve. */
export function memoryForMachines(totalBytes: number): number {
  return totalBytes - Math.min(limits.hostReserveMemoryBytes, Math.floor(totalBytes / 8));
}

export async function freeDiskBytes(path: string): Promise<number> {
  return (await diskSpace(path)).freeBytes;
}

export interface DiskSpace {
  freeBytes: number;
  totalBytes: number;
}

/**
 * Returns the size of the file system, and what of it may still be written. The engine's volume is a sparse file: whoever writes
 * in it fills the host's disk too, so it has the less of both.
 */
export async function diskSpace(path: string): Promise<DiskSpace> {
  const own = await spaceOf(path);
  const dataDir = dataDirAround(path);
  if (dataDir === null) return own;
  const host = await spaceOf(dataDir);
  return {
    freeBytes: Math.min(own.freeBytes, host.freeBytes),
    totalBytes: Math.min(own.totalBytes, host.totalBytes),
  };
}

async function spaceOf(path: string): Promise<DiskSpace> {
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

/**
 * Raises low kernel limits that all machines share (process ids, threads and open files), as systemd does on most hosts. None
 * is lowered, and none is restored, since other programs may need it by then.
 * @returns Bound on processes and threads of all machines together; the host keeps the rest.
 */
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
