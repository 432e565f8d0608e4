/**
 * Usage of a sandbox, measured from outside: three small files and one stat, without a request to the agent. The kernel
 * answers all four from memory, so they are read synchronously: the thread pool takes longer, and disk accesses of
 * other sandboxes wait in its queue.
 */
import { readFileSync, statSync } from 'node:fs';
import type { SandboxUsage } from '../../../control/ports/index.ts';
import { isMissing } from '../host/files.ts';
import type { Hierarchy } from '../host/hierarchies.ts';
import type { Layout } from '../layout.ts';

export interface UsageDependencies {
  layout: Pick<Layout, 'disk'>;
  memory: Hierarchy;
  /** Hierarchy that counts processor time; null: none does. */
  processor: Hierarchy | null;
  /** Path of the machine's cgroup below a mount point. */
  groupPath: (id: string) => string;
}

const BLOCK_BYTES = 512;

export function createUsage({ layout, memory, processor, groupPath }: UsageDependencies) {
  return (id: string): SandboxUsage => {
    const disk = statSync(layout.disk(id), { throwIfNoEntry: false });
    return {
      cpuMs: processor && processorTime(processor.version, processor.mountpoint + groupPath(id)),
      memoryBytes: memoryInUse(memory.version, memory.mountpoint + groupPath(id)),
      diskBytes: disk ? disk.blocks * BLOCK_BYTES : null,
    };
  };
}

/** Returns null when the machine does not run. */
function processorTime(version: Hierarchy['version'], group: string): number | null {
  try {
    if (version === 1) return Number(readFileSync(`${group}/cpuacct.usage`, 'utf8')) / 1_000_000;
    const [, microseconds] = /^usage_usec (\d+)$/m.exec(readFileSync(`${group}/cpu.stat`, 'utf8')) ?? [];
    return microseconds === undefined ? null : Number(microseconds) / 1_000;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Excludes inactive cached files, which the kernel reclaims first. Returns null when the machine does not run. */
function memoryInUse(version: Hierarchy['version'], group: string): number | null {
  const [total, cached] =
    version === 2 ? ['memory.current', 'inactive_file'] : ['memory.usage_in_bytes', 'total_inactive_file'];
  try {
    const used = Number(readFileSync(`${group}/${total}`, 'utf8'));
    const statistics = readFileSync(`${group}/memory.stat`, 'utf8');
    const [, inactive = '0'] = new RegExp(`^${cached} (\\d+)$`, 'm').exec(statistics) ?? [];
    return Math.max(0, used - Number(inactive));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
