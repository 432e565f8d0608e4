/** Quota of one user: kinds, defaults, and the error for an excess. */
import { SandhavenError } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Sandboxes and disk count all of them, cpu and memory those that run or are about to. Disk also counts what disks of
 * snapshots take, each in whole GB.
 */
export const quotaKinds = ['sandboxes', 'cpu', 'memory', 'disk', 'snapshots'] as const;
export type QuotaKind = (typeof quotaKinds)[number];

/**
 * Rates of all running sandboxes of an owner together, Mbit/s each way and new connections a second, and GB of a day. The
 * kernel holds them (`src/control/network/traffic`), no change of the store is refused for them.
 */
export const networkQuotaKinds = ['bandwidth', 'connections', 'traffic'] as const;
export type NetworkQuotaKind = (typeof networkQuotaKinds)[number];

/** null: without a limit, which is so for what is absent. */
export type Quota = Record<QuotaKind, number | null> & Partial<Record<NetworkQuotaKind, number | null>>;
/** `trafficBytes` are those of the present UTC day; absent where nobody counts them. */
export type Usage = Record<QuotaKind, number> & { trafficBytes?: number };

export const unlimited: Quota = { sandboxes: null, cpu: null, memory: null, disk: null, snapshots: null };

/** Sizes of the host, as far as quotas follow from them. */
export interface MachineSize {
  processors: number;
  memoryGb: number;
  /** Size of the disk with the data directory, used or free. */
  diskGb: number;
}

/**
 * Returns a member's quota without an operator's setting: a part of the host, over-committed as idle sandboxes allow,
 * and never less than the largest sandbox.
 */
export function quotaOfMembers({ processors, memoryGb, diskGb }: MachineSize): Quota {
  return {
    sandboxes: 50,
    cpu: Math.max(2 * limits.cpu.max, 4 * processors),
    memory: Math.max(limits.memoryGb.max, 2 * Math.floor(memoryGb)),
    disk: Math.max(2 * limits.diskGb.max, 2 * Math.floor(diskGb)),
    snapshots: 50,
    connections: limits.ownerConnectionsPerSecond,
  };
}

interface Words {
  things: string;
  hint: string;
}

const words: Record<QuotaKind, Words> = {
  sandboxes: { things: 'sandboxes', hint: 'Delete a sandbox that is no longer needed' },
  cpu: { things: 'vCPUs of running sandboxes', hint: 'Stop a sandbox, or ask for fewer vCPUs' },
  memory: { things: 'GB of memory of running sandboxes', hint: 'Stop a sandbox, or ask for less memory' },
  disk: {
    things: 'GB of disk',
    hint: 'Delete a sandbox or a snapshot that is no longer needed, or ask for a smaller disk',
  },
  snapshots: { things: 'snapshots', hint: 'Delete one with `sandhaven snapshots rm NAME`' },
};

/** Quotas by the errors that refuse for them. */
const refusals = new WeakMap<object, QuotaKind>();

/** Returns the quota for which an error refuses; null for any other error. */
export function quotaOfRefusal(error: unknown): QuotaKind | null {
  return error instanceof SandhavenError ? (refusals.get(error) ?? null) : null;
}

export function isUnlimited(quota: Quota): boolean {
  return quotaKinds.every((kind) => quota[kind] === null);
}

/**
 * Throws `resource_exhausted` when a kind that grew is over its limit: a user whose limit was lowered may keep the
 * present use, and may always reduce it.
 */
export function assertWithinQuota(quota: Quota, before: Usage, after: Usage): void {
  for (const kind of quotaKinds) {
    const limit = quota[kind];
    if (limit === null || after[kind] <= limit || after[kind] <= before[kind]) continue;
    const { things, hint } = words[kind];
    const left = Math.max(0, limit - before[kind]);
    const wanted = after[kind] - before[kind];
    const refusal = new SandhavenError(
      'resource_exhausted',
      `The quota is ${limit} ${things}: ${before[kind]} are used, ${left} are left, and ${wanted} more were asked for.`,
      { hint: `${hint}; an administrator can raise the quota.` },
    );
    refusals.set(refusal, kind);
    throw refusal;
  }
}

/** Returns the rest of each kind; null without a limit. */
export function leftOf(quota: Quota, used: Usage): Quota {
  const entries = quotaKinds.map((kind) => {
    const limit = quota[kind];
    return [kind, limit === null ? null : Math.max(0, limit - used[kind])];
  });
  return Object.fromEntries(entries) as Quota;
}
