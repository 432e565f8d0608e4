/**
 * Measures a sandbox's use from outside: two small files and one stat, and no call into it. All three are answered
 * from memory, so they are read in place: the thread pool takes longer, and its queue waits for the disks of others'
 * sandboxes.
 */
import { readFileSync, statSync } from 'node:fs';
import type { SandboxUsage } from '../../../control/ports/index.ts';
import { isMissing } from '../host/files.ts';
import type { Hierarchy } from '../host/hierarchies.ts';
import type { Layout } from '../layout.ts';

export interface UsageParts {
  layout: Pick<Layout, 'disk'>;
  memory: Hierarchy;
  /** Of the machine's cgroup below a mount point. */
  groupPath: (id: string) => string;
}

const BLOCK_BYTES = 512;

export function createUsage({ layout, memory, groupPath }: UsageParts) {
  return (id: string): SandboxUsage => {
    const disk = statSync(layout.disk(id), { throwIfNoEntry: false });
    return {
      memoryBytes: memoryInUse(memory.version, memory.mountpoint + groupPath(id)),
      diskBytes: disk ? disk.blocks * BLOCK_BYTES : null,
    };
  };
}

/** Without cached files that nobody has looked at for a while: the kernel takes those back first. null: it does not run. */
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
