/** View of a sandbox's traffic of today, and of the limits that it is under. */
import { z } from 'zod';
import type { ShownTraffic } from '../../control/network/traffic/traffic-watch.ts';
import { bytesOf } from '../../model/network/traffic.ts';

/** null: without a limit. */
const limit = z.int().nullable();

const limitsOutput = z.looseObject({
  bandwidth_mbps: limit,
  connections_per_second: limit,
  gb_per_day: limit,
});

export const trafficOutput = z.looseObject({
  sent_bytes_today: z.int().describe('Since the UTC day began, at most some seconds old.'),
  received_bytes_today: z.int(),
  refused_connections_today: z.int().describe('New connections that came faster than a limit allows.'),
  limits: limitsOutput.describe('Of each sandbox.'),
  owner: limitsOutput
    .extend({ used_bytes_today: z.int() })
    .describe("Of all of its owner's sandboxes together."),
  refused_until: z
    .string()
    .nullable()
    .describe('End of a refusal: the traffic of today has been used up. null while the network is there.'),
  used_up: z.enum(['sandbox', 'owner']).nullable().describe('Whose traffic has been used up.'),
});

export type TrafficView = z.output<typeof trafficOutput>;

export function toTrafficView({ today, each, quota, ownerBytes, usedUp, until }: ShownTraffic): TrafficView {
  return {
    sent_bytes_today: today.sentBytes,
    received_bytes_today: today.receivedBytes,
    refused_connections_today: today.refusedConnections,
    limits: {
      bandwidth_mbps: each.bandwidthMbps,
      connections_per_second: each.connectionsPerSecond,
      gb_per_day: each.gbPerDay,
    },
    owner: {
      used_bytes_today: ownerBytes,
      bandwidth_mbps: quota.bandwidth ?? null,
      connections_per_second: quota.connections ?? null,
      gb_per_day: quota.traffic ?? null,
    },
    refused_until: until === null ? null : new Date(until).toISOString(),
    used_up: usedUp,
  };
}

/** Returns the traffic for a table, in GB with its limit, or the end of a refusal. */
export function trafficText(view: TrafficView): string {
  if (view.refused_until !== null) return `used up until ${view.refused_until}`;
  const gb = (bytes: number) => (bytes / bytesOf(1)).toFixed(3);
  const most = view.limits.gb_per_day === null ? '' : `/${view.limits.gb_per_day}`;
  return `${gb(view.sent_bytes_today + view.received_bytes_today)}${most} GB`;
}
