/** Options of what each user and each sandbox may have, of several flags. */
import { invalidArgument } from '../../../model/errors.ts';
import type { TrafficOptions } from '../../../model/network/traffic.ts';
import { networkQuotaKinds, type Quota } from '../../../model/quota.ts';
import type { FlagValues } from '../all-flags.ts';

export type TrafficFlag =
  | 'sandboxBandwidthMbps'
  | 'sandboxConnectionsPerSecond'
  | 'sandboxTrafficGb'
  | 'uplinkMbps';

export interface ShareOptions {
  /** Quota of each user without one set by an admin; kinds at their defaults are absent. */
  quota: Partial<Quota>;
  /** Limits of traffic. */
  traffic: TrafficOptions;
}

type Quotas = Pick<FlagValues, Extract<keyof FlagValues, `quota${string}`>>;

export function takeQuotas<T extends Quotas>(values: T): Omit<T, keyof Quotas> & Pick<ShareOptions, 'quota'> {
  const {
    quotaSandboxes,
    quotaCpu,
    quotaMemoryGb,
    quotaDiskGb,
    quotaSnapshots,
    quotaBandwidthMbps,
    quotaConnectionsPerSecond,
    quotaTrafficGb,
    ...others
  } = values;
  const all = {
    sandboxes: quotaSandboxes,
    cpu: quotaCpu,
    memory: quotaMemoryGb,
    disk: quotaDiskGb,
    snapshots: quotaSnapshots,
    bandwidth: quotaBandwidthMbps,
    connections: quotaConnectionsPerSecond,
    traffic: quotaTrafficGb,
  };
  const quota = Object.fromEntries(Object.entries(all).filter(([, most]) => most !== undefined));
  return { ...others, quota };
}

type OfTraffic = Pick<FlagValues, TrafficFlag>;

export function takeTraffic<T extends OfTraffic>(
  values: T,
): Omit<T, keyof OfTraffic> & Pick<ShareOptions, 'traffic'> {
  const { sandboxBandwidthMbps, sandboxConnectionsPerSecond, sandboxTrafficGb, uplinkMbps, ...others } =
    values;
  const traffic = {
    each: {
      bandwidthMbps: sandboxBandwidthMbps,
      connectionsPerSecond: sandboxConnectionsPerSecond,
      gbPerDay: sandboxTrafficGb,
    },
    uplinkMbps,
  };
  return { ...others, traffic };
}

/** Nothing on a cluster would count or limit traffic. */
export function assertNoTrafficLimits(given: ReadonlyMap<string, unknown>, quota: Partial<Quota>): void {
  const kinds = { bandwidth: 'bandwidth-mbps', connections: 'connections-per-second', traffic: 'traffic-gb' };
  const quotas = networkQuotaKinds.filter((kind) => typeof quota[kind] === 'number');
  const flags = [
    ...[
      'sandbox-bandwidth-mbps',
      'sandbox-connections-per-second',
      'sandbox-traffic-gb',
      'uplink-mbps',
    ].filter((name) => given.has(name)),
    ...quotas.map((kind) => `quota-${kinds[kind]}`),
  ];
  if (flags[0] === undefined) return;
  const name = `--${flags[0]}`;
  throw invalidArgument(name, `${name} does nothing with --runtime kubernetes.`, `Leave ${name} out.`);
}
