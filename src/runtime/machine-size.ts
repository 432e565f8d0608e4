/** Sizes of this machine, from which the members' part follows. */
import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { GiB } from '../model/limits.ts';
import type { MachineSize } from '../model/quota.ts';

/** @param folder On the disk that counts. */
export async function machineSize(folder: string): Promise<MachineSize> {
  const { blocks, bsize } = await statfs(folder);
  return {
    processors: availableParallelism(),
    memoryGb: totalmem() / GiB,
    diskGb: (blocks * bsize) / GiB,
  };
}
