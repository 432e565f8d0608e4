/** Options of what each user and each sandbox may have, of several flags. */
import { invalidArgument } from '../../model/errors.ts';
import type { TrafficOptions } from '../../model/network/traffic.ts';
import { networkQuotaKinds, type Quota } from '../../model/quota.ts';
import type { FlagValues } from './all-flags.ts';
import { quotaFlags } from './quotas.ts';
import { trafficFlags } from './traffic.ts';

export type ShareFlag = keyof typeof quotaFlags | keyof typeof trafficFlags;

export const shareFlags = Object.keys({ ...quotaFlags, ...trafficFlags });

export interface ShareOptions {
  /** Quota of each user without one set by an admin; kinds at their defaults are absent. */
  quota: Partial<Quota>;
  /** Limits of traffic. */
  traffic: TrafficOptions;
}

export function quotaOf(values: FlagValues): Partial<Quota> {
  const all = {
    sandboxes: values.quotaSandboxes,
    cpu: values.quotaCpu,
    memory: values.quotaMemoryGb,
    disk: values.quotaDiskGb,
    snapshots: values.quotaSnapshots,
    bandwidth: values.quotaBandwidthMbps,
    connections: values.quotaConnectionsPerSecond,
    traffic: values.quotaTrafficGb,
  };
  return Object.fromEntries(Object.entries(all).filter(([, most]) => most !== undefined));
}

export function trafficOf(values: FlagValues): TrafficOptions {
  const each = {
    bandwidthMbps: values.sandboxBandwidthMbps,
    connectionsPerSecond: values.sandboxConnectionsPerSecond,
    gbPerDay: values.sandboxTrafficGb,
  };
  return { each, uplinkMbps: values.uplinkMbps };
}

/** Nothing on a cluster would count or limit traffic. */
export function assertNoTrafficLimits(given: ReadonlyMap<string, unknown>, quota: Partial<Quota>): void {
  const kinds = { bandwidth: 'bandwidth-mbps', connections: 'connections-per-second', traffic: 'traffic-gb' };
  const quotas = networkQuotaKinds.filter((kind) => typeof quota[kind] === 'number');
  const ofTraffic = Object.values(trafficFlags).map(({ name }) => name);
  const flags = [
    ...ofTraffic.filter((name) => given.has(name)),
    ...quotas.map((kind) => `quota-${kinds[kind]}`),
  ];
  if (flags[0] === undefined) return;
  const name = `--${flags[0]}`;
  throw invalidArgument(name, `${name} does nothing with --runtime kubernetes.`, `Leave ${name} out.`);
}
