/** Users and teams as actions name them, and what owners have and use. */
import { z } from 'zod';
import { networkOutput, toNetworkView } from '../catalog/base/sandbox-view.ts';
import { optionalInteger, text } from '../catalog/parameters/scalars.ts';
import { limits } from '../model/limits.ts';
import type { OwnerNetworks } from '../model/network/setting.ts';
import { leftOf, type Quota, type QuotaKind, quotaKinds, type Usage } from '../model/quota.ts';
import { teamNamePattern, teamRoles } from '../model/team.ts';
import { roles } from '../model/user.ts';

export const user = text().min(1).max(limits.userEmailChars).describe('User ID or email.');

export const name = text()
  .min(1)
  .max(limits.userNameChars)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .describe('Name for people.');

export const email = z
  .string()
  .max(limits.userEmailChars)
  .regex(/^[!-?A-~]+@[!-?A-~]+$/, 'must be an email address')
  .describe('Email; no two users have the same.');

export const role = z
  .enum(roles)
  .describe(
    'admin manages the service and its users; member has sandboxes; viewer sees and changes nothing.',
  );

const UNLIMITED = -1;

const quota = (things: string) =>
  optionalInteger(`Most ${things}, ${UNLIMITED} for no limit`, { min: UNLIMITED, max: limits.quotaMax });

/** Named like the flags of `up`. */
export const quotaParameters = {
  quota_sandboxes: quota('sandboxes, in whatever state'),
  quota_cpu: quota('vCPUs of all running sandboxes'),
  quota_memory_gb: quota('GB of memory of all running sandboxes'),
  quota_disk_gb: quota('GB of disk of all sandboxes, in whatever state'),
  quota_snapshots: quota('snapshots'),
  quota_bandwidth_mbps: quota('Mbit/s, each way, of all running sandboxes'),
  quota_connections_per_second: quota('new connections a second of all running sandboxes'),
  quota_traffic_gb: quota('GB of network traffic a day (UTC) of all sandboxes, both ways'),
};

type QuotaGiven = { [K in keyof typeof quotaParameters]?: number | undefined };

/** Returns only the given kinds. */
export function toQuota(given: QuotaGiven): Partial<Quota> {
  const kinds = {
    sandboxes: given.quota_sandboxes,
    cpu: given.quota_cpu,
    memory: given.quota_memory_gb,
    disk: given.quota_disk_gb,
    snapshots: given.quota_snapshots,
    bandwidth: given.quota_bandwidth_mbps,
    connections: given.quota_connections_per_second,
    traffic: given.quota_traffic_gb,
  };
  const set = Object.entries(kinds).filter(([, limit]) => limit !== undefined);
  return Object.fromEntries(set.map(([kind, limit]) => [kind, limit === UNLIMITED ? null : limit]));
}

export const team = text().min(1).max(limits.teams.nameChars).describe('Team name or ID.');

export const teamName = z
  .string()
  .min(1)
  .max(limits.teams.nameChars)
  .regex(teamNamePattern, 'must be letters, digits, dot, underscore and hyphen, and not begin with team_')
  .describe('Name; no two teams have the same.');

export const teamRole = z
  .enum(teamRoles)
  .describe('member works with all that the team owns; viewer sees it and changes nothing.');

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

type UsageView = z.output<typeof usageOutput>;

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

/** View of the default network and the ceiling of a user or a team. */
export const ownerNetworksOutput = z.looseObject({
  default: networkOutput
    .nullable()
    .describe("Of sandboxes whose creation asks for none; null: the installation's."),
  most: networkOutput
    .nullable()
    .describe("The most that they reach; null: the installation's ceiling alone."),
});

type OwnerNetworksView = z.output<typeof ownerNetworksOutput>;

export function toOwnerNetworksView({ usual, most }: OwnerNetworks): OwnerNetworksView {
  return { default: usual && toNetworkView(usual), most: most && toNetworkView(most) };
}
