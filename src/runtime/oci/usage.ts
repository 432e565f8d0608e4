/** What a sandbox has in use, measured from outside: two small files and one stat, and nothing in it is asked. */
import { readFile, stat } from 'node:fs/promises';
import type { SandboxUsage } from '../../control/ports.ts';
import { unlessMissing } from './files.ts';
import type { Hierarchy } from './hierarchies.ts';
import type { Layout } from './layout.ts';

export interface UsageParts {
  layout: Pick<Layout, 'disk'>;
  memory: Hierarchy;
  /** Of the machine's cgroup below a mount point. */
  groupPath: (id: string) => string;
}

const BLOCK_BYTES = 512;

export function createUsage({ layout, memory, groupPath }: UsageParts) {
  return async (id: string): Promise<SandboxUsage> => {
    const [memoryBytes, disk] = await Promise.all([
      memoryInUse(memory.version, memory.mountpoint + groupPath(id)),
      unlessMissing(stat(layout.disk(id))),
    ]);
    return { memoryBytes, diskBytes: disk && disk.blocks * BLOCK_BYTES };
  };
}

/** Without cached files that nobody has looked at for a while: the kernel takes those back first. null: it does not run. */
async function memoryInUse(version: Hierarchy['version'], group: string): Promise<number | null> {
  const [total, cached] =
    version === 2 ? ['memory.current', 'inactive_file'] : ['memory.usage_in_bytes', 'total_inactive_file'];
  const [used, statistics] = await Promise.all([
    unlessMissing(readFile(`${group}/${total}`, 'utf8')),
    unlessMissing(readFile(`${group}/memory.stat`, 'utf8')),
  ]);
  if (used === null || statistics === null) return null;
  const [, inactive = '0'] = new RegExp(`^${cached} (\\d+)$`, 'm').exec(statistics) ?? [];
  return Math.max(0, Number(used) - Number(inactive));
}
