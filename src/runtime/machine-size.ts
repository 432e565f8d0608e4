/** Size of this host, from which members' default quotas are derived. */
import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { GiB } from '../model/limits.ts';
import type { MachineSize } from '../model/quota.ts';

/** @param folder Any folder on the disk to measure. */
export async function machineSize(folder: string): Promise<MachineSize> {
  const { blocks, bsize } = await statfs(folder);
  return {
    processors: availableParallelism(),
    memoryGb: totalmem() / GiB,
    diskGb: (blocks * bsize) / GiB,
  };
}
