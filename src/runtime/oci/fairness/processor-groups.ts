/** Processor time of an instance's cgroups, read and weighed, on v1 and v2. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { sharesToWeight } from '../cgroups.ts';
import { unlessMissing } from '../files.ts';
import { controllerHierarchy, type Hierarchy } from '../hierarchies.ts';

export interface ProcessorGroups {
  /** Of all machines together, below what programs of the host have. */
  setSharesOfAll(shares: number): Promise<void>;
  /** Nothing where the machine is gone. */
  setShares(id: string, shares: number): Promise<void>;
  /** What a machine has used, or with no id all of them; null where it is gone. */
  usedMs(id?: string): Promise<number | null>;
  /** Processors that a machine may use at once; null where it is gone. */
  processors(id: string): Promise<number | null>;
}

export function createProcessorGroups(instanceId: string, hierarchies: Hierarchy[]): ProcessorGroups {
  const parent = `sandhaven-${instanceId}`;
  const weighed = controllerHierarchy(hierarchies, 'cpu');
  const counted = controllerHierarchy(hierarchies, 'cpuacct');

  async function write(group: string, shares: number): Promise<void> {
    if (!weighed) return;
    const [file, value] =
      weighed.version === 2 ? ['cpu.weight', sharesToWeight(shares)] : ['cpu.shares', shares];
    await unlessMissing(writeFile(`${weighed.mountpoint}/${group}/${file}`, String(value), { flag: 'r+' }));
  }

  const read = (hierarchy: Hierarchy | null, group: string, file: string): Promise<string | null> =>
    hierarchy
      ? unlessMissing(readFile(`${hierarchy.mountpoint}/${group}/${file}`, 'utf8'))
      : Promise.resolve(null);

  return {
    async setSharesOfAll(shares) {
      if (weighed) await mkdir(`${weighed.mountpoint}/${parent}`, { recursive: true });
      await write(parent, shares);
    },

    setShares: (id, shares) => write(`${parent}/${id}`, shares),

    async usedMs(id) {
      const group = id === undefined ? parent : `${parent}/${id}`;
      if (counted?.version === 2) {
        const usage = /^usage_usec (\d+)$/m.exec((await read(counted, group, 'cpu.stat')) ?? '')?.[1];
        return usage === undefined ? null : Number(usage) / 1e3;
      }
      const usage = await read(counted, group, 'cpuacct.usage');
      return usage === null ? null : Number(usage) / 1e6;
    },

    async processors(id) {
      const group = `${parent}/${id}`;
      if (weighed?.version === 2) {
        const [quota, period] = ((await read(weighed, group, 'cpu.max')) ?? '').split(' ').map(Number);
        return quota && period ? quota / period : null;
      }
      const [quota, period] = await Promise.all([
        read(weighed, group, 'cpu.cfs_quota_us'),
        read(weighed, group, 'cpu.cfs_period_us'),
      ]);
      return quota === null || period === null ? null : Number(quota) / Number(period);
    },
  };
}
