/**
 * Usage of a sandbox, measured from outside: four small files and one stat, without a request to the agent. The kernel
 * answers all five from memory, so they are read synchronously: the thread pool takes longer, and disk accesses of
 * other sandboxes wait in its queue.
 */
import { statSync } from 'node:fs';
import type { SandboxUsage } from '../../../control/ports/index.ts';
import { readNow } from '../host/files.ts';
import type { Hierarchy } from '../host/hierarchies.ts';
import type { Layout } from '../host/layout.ts';

export interface UsageDependencies {
  layout: Pick<Layout, 'disk'>;
  memory: Hierarchy;
  /** Hierarchy that counts processor time; null: none does. */
  processor: Hierarchy | null;
  /** Returns the path of the machine's cgroup below a mount point; null for a machine that has ended. */
  groupPath: (id: string) => string | null;
}

const BLOCK_BYTES = 512;

export function createUsage({ layout, memory, processor, groupPath }: UsageDependencies) {
  return (id: string): SandboxUsage => {
    const disk = statSync(layout.disk(id), { throwIfNoEntry: false });
    const group = groupPath(id);
    return {
      cpuMs:
        group === null ? null : processor && processorTime(processor.version, processor.mountpoint + group),
      memoryBytes: group === null ? null : memoryInUse(memory.version, memory.mountpoint + group),
      diskBytes: disk ? disk.blocks * BLOCK_BYTES : null,
      oomKills: group === null ? null : oomKills(memory.version, memory.mountpoint + group),
    };
  };
}

/** Returns null when the machine does not run. */
function processorTime(version: Hierarchy['version'], group: string): number | null {
  if (version === 1) {
    const nanoseconds = readNow(`${group}/cpuacct.usage`);
    return nanoseconds === null ? null : Number(nanoseconds) / 1_000_000;
  }
  const [, microseconds] = /^usage_usec (\d+)$/m.exec(readNow(`${group}/cpu.stat`) ?? '') ?? [];
  return microseconds === undefined ? null : Number(microseconds) / 1_000;
}

/** Returns null when the machine does not run. */
function oomKills(version: Hierarchy['version'], group: string): number | null {
  const text = readNow(`${group}/${version === 2 ? 'memory.events' : 'memory.oom_control'}`);
  const [, count] = /^oom_kill (\d+)$/m.exec(text ?? '') ?? [];
  return count === undefined ? null : Number(count);
}

/** Excludes inactive cached files, which the kernel reclaims first. Returns null when the machine does not run. */
function memoryInUse(version: Hierarchy['version'], group: string): number | null {
  const [total, cached] =
    version === 2 ? ['memory.current', 'inactive_file'] : ['memory.usage_in_bytes', 'total_inactive_file'];
  const used = readNow(`${group}/${total}`);
  const statistics = readNow(`${group}/memory.stat`);
  if (used === null || statistics === null) return null;
  const [, inactive = '0'] = new RegExp(`^${cached} (\\d+)$`, 'm').exec(statistics) ?? [];
  return Math.max(0, Number(used) - Number(inactive));
}
