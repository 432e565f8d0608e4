/** Parameters of a user. */
import { z } from 'zod';
import { optionalInteger } from '../../catalog/parameters/integer.ts';
import { text } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import type { Quota } from '../../model/quota.ts';
import { roles } from '../../model/user.ts';

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
