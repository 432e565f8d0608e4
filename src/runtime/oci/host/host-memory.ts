/**
 * Memory that this service and its machines have: the host's, or less where a container has a limit of its own
 * (`docker run --memory`). There, the hierarchy that is mounted begins with the container's group.
 */
import { readNow } from './files.ts';
import type { Hierarchy } from './hierarchies.ts';

export interface Memory {
  totalBytes: number;
  availableBytes: number;
}

/** Limit, use, and the key of memory.stat for files that the kernel gives up when memory is short. */
const FILES = {
  1: { limit: 'memory.limit_in_bytes', used: 'memory.usage_in_bytes', files: 'total_inactive_file' },
  2: { limit: 'memory.max', used: 'memory.current', files: 'inactive_file' },
};

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
