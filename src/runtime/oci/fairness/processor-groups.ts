/** Processor time and weights of an instance's cgroups, on v1 and v2. */
import { mkdir, writeFile } from 'node:fs/promises';
import { readNow, unlessMissing } from '../host/files.ts';
import { controllerHierarchy, type Hierarchy } from '../host/hierarchies.ts';

export interface ProcessorGroups {
  /** Sets the weight of all machines together, as a part of the kernel's standard weight. */
  setWeightOfAll(part: number): Promise<void>;
  /** Does nothing when the machine is gone. */
  setShares(id: string, shares: number): Promise<void>;
  /** Returns the processor time that a machine has used; null when it is gone. */
  usedMs(id: string): number | null;
  /** Returns the processor time that all machines have used; null where the kernel does not count it. */
  usedMsOfAll(): number | null;
  /** Returns the processors that a machine may use at once; null when it is gone, or in the making and unlimited. */
  processors(id: string): number | null;
}

/** Standard weight of a group in the kernel: as a v2 weight, and as v1 shares. */
const STANDARD_WEIGHT = 100;
const STANDARD_SHARES = 1024;

export function createProcessorGroups(instanceId: string, hierarchies: Hierarchy[]): ProcessorGroups {
  const parent = `sandhaven-${instanceId}`;
  const weighed = controllerHierarchy(hierarchies, 'cpu');
  const counted = controllerHierarchy(hierarchies, 'cpuacct');

  const read = (hierarchy: Hierarchy | null, group: string, file: string): string | null =>
    hierarchy && readNow(`${hierarchy.mountpoint}/${group}/${file}`);

  function usedMsOf(group: string): number | null {
    if (counted?.version === 2) {
      const usage = /^usage_usec (\d+)$/m.exec(read(counted, group, 'cpu.stat') ?? '')?.[1];
      return usage === undefined ? null : Number(usage) / 1e3;
    }
    const usage = read(counted, group, 'cpuacct.usage');
    return usage === null ? null : Number(usage) / 1e6;
  }

  return {
    async setWeightOfAll(part) {
      if (!weighed) return;
      await mkdir(`${weighed.mountpoint}/${parent}`, { recursive: true });
      await setWeight(weighed, parent, part);
    },

    async setShares(id, shares) {
      if (!weighed) return;
      await write(weighed, `${parent}/${id}`, weighed.version === 2 ? sharesToWeight(shares) : shares);
    },

    usedMs: (id) => usedMsOf(`${parent}/${id}`),

    // The group is made with the first machine.
    usedMsOfAll: () => (counted === null ? null : (usedMsOf(parent) ?? 0)),

    processors(id) {
      const group = `${parent}/${id}`;
      if (weighed?.version === 2) {
        const [quota, period] = (read(weighed, group, 'cpu.max') ?? '').split(' ').map(Number);
        return quota && period ? quota / period : null;
      }
      const quota = read(weighed, group, 'cpu.cfs_quota_us');
      const period = read(weighed, group, 'cpu.cfs_period_us');
      return quota === null || period === null || Number(quota) < 0 ? null : Number(quota) / Number(period);
    },
  };
}

/** @param part Part of the kernel's standard weight. */
export async function setWeight(hierarchy: Hierarchy, group: string, part: number): Promise<void> {
  const standard = hierarchy.version === 2 ? STANDARD_WEIGHT : STANDARD_SHARES;
  await write(hierarchy, group, Math.round(part * standard));
}

async function write({ version, mountpoint }: Hierarchy, group: string, value: number): Promise<void> {
  const file = `${mountpoint}/${group}/${version === 2 ? 'cpu.weight' : 'cpu.shares'}`;
  await unlessMissing(writeFile(file, String(value), { flag: 'r+' }));
}

/** Converts v1 shares (2…262144) to a v2 weight (1…10000), like runc and systemd. */
export function sharesToWeight(shares: number): number {
  return Math.trunc(1 + ((shares - 2) * 9999) / 262_142);
}

/**
 * Sets the quota alone; the weight belongs to `processor-shares.ts`.
 * @param quota null for none, as for what is killed: at a limit it would end a little in each period.
 */
export async function setQuota(
  { version }: Hierarchy,
  group: string,
  quota: { cpuQuotaUs: number; cpuPeriodUs: number } | null,
): Promise<void> {
  // A group that is half gone has no such file, and none can be made in it.
  const flag = quota ? 'w' : 'r+';
  if (version === 1) await writeFile(`${group}/cpu.cfs_quota_us`, String(quota?.cpuQuotaUs ?? -1), { flag });
  else
    await writeFile(`${group}/cpu.max`, quota ? `${quota.cpuQuotaUs} ${quota.cpuPeriodUs}` : 'max', { flag });
}
