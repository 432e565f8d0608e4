/** View of an owner's quota and its use, of users and of teams alike. */
import { z } from 'zod';
import { leftOf, type Quota, type QuotaKind, quotaKinds, type Usage } from '../../model/quota.ts';

/** null: without a limit. */
const used = z.looseObject({ used: z.int(), limit: z.int().nullable(), left: z.int().nullable() });

/** Sandboxes and disk count all of them; cpu and memory those that run. Memory and disk in GB. */
export const usageOutput = z.looseObject({
  sandboxes: used,
  cpu: used,
  memory: used,
  disk: used,
  snapshots: used,
  network: z.looseObject({
    used_bytes_today: z
      .int()
      .nullable()
      .describe('Both ways, since the UTC day began; null where not counted.'),
    gb_per_day: z.int().nullable(),
    bandwidth_mbps: z.int().nullable(),
    connections_per_second: z.int().nullable(),
  }),
});

export type UsageView = z.output<typeof usageOutput>;

export function toUsageView(quota: Quota, usage: Usage): UsageView {
  const left = leftOf(quota, usage);
  const entries = quotaKinds.map((kind) => [
    kind,
    { used: usage[kind], limit: quota[kind], left: left[kind] },
  ]);
  const network = {
    used_bytes_today: usage.trafficBytes ?? null,
    gb_per_day: quota.traffic ?? null,
    bandwidth_mbps: quota.bandwidth ?? null,
    connections_per_second: quota.connections ?? null,
  };
  return { ...Object.fromEntries(entries), network } as UsageView;
}

/** Returns `used/limit` of each kind, for a table. */
export function countsOf(usage: UsageView, kinds: readonly QuotaKind[]): Record<string, string> {
  const counts = kinds.map((kind) => {
    const { used, limit } = usage[kind];
    return [kind, limit === null ? `${used}` : `${used}/${limit}`];
  });
  return Object.fromEntries(counts);
}
