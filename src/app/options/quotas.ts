/** Flags of what each user may have. */
import { flag, parseQuota } from './flag.ts';

export const quotaFlags = {
  /** Quota of sandboxes for each user. */
  quotaSandboxes: flag({
    name: 'quota-sandboxes',
    default: 'auto',
    help: 'sandboxes of each user, in whatever state',
    parse: parseQuota,
  }),
  /** Quota of vCPUs for each user. */
  quotaCpu: flag({
    name: 'quota-cpu',
    default: 'auto',
    help: "vCPUs of each user's running sandboxes",
    parse: parseQuota,
  }),
  /** Quota of memory for each user, in GB. */
  quotaMemoryGb: flag({
    name: 'quota-memory-gb',
    default: 'auto',
    help: "GB of memory of each user's running sandboxes",
    parse: parseQuota,
  }),
  /** Quota of disk for each user, in GB. */
  quotaDiskGb: flag({
    name: 'quota-disk-gb',
    default: 'auto',
    help: "GB of disk of each user's sandboxes, in whatever state",
    parse: parseQuota,
  }),
  /** Quota of snapshots for each user. */
  quotaSnapshots: flag({
    name: 'quota-snapshots',
    default: 'auto',
    help: 'snapshots of each user; auto: members have a share of the machine, admins all of it',
    parse: parseQuota,
  }),
  /** Quota of bandwidth for each user, in Mbit/s each way. */
  quotaBandwidthMbps: flag({
    name: 'quota-bandwidth-mbps',
    default: 'auto',
    help: "Mbit/s, each way, of each user's running sandboxes together",
    parse: parseQuota,
  }),
  /** Quota of new connections a second for each user. */
  quotaConnectionsPerSecond: flag({
    name: 'quota-connections-per-second',
    default: 'auto',
    help: "new network connections a second of each user's running sandboxes together",
    parse: parseQuota,
  }),
  /** Quota of traffic for each user, in GB a day. */
  quotaTrafficGb: flag({
    name: 'quota-traffic-gb',
    default: 'auto',
    help: "GB of network traffic a day (UTC) of each user's sandboxes, both ways",
    parse: parseQuota,
  }),
};
