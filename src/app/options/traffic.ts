/** Flags of the traffic of sandboxes. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { flag, parseLimit } from './flag.ts';

const most = limits.network.newConnectionsPerSecond;

export const trafficFlags = {
  /** Bandwidth of each sandbox. */
  sandboxBandwidthMbps: flag({
    name: 'sandbox-bandwidth-mbps',
    default: 'none',
    help: 'Mbit/s that each sandbox sends at most, and receives at most',
    parse: (text, context) => parseLimit(text, context, limits.quotaMax),
  }),
  /** New connections of each sandbox. */
  sandboxConnectionsPerSecond: flag({
    name: 'sandbox-connections-per-second',
    default: String(most),
    help: `network connections that each sandbox may open a second, at most ${most}`,
    parse(text, context) {
      const count = parseLimit(text, context, most);
      if (count !== null) return count;
      throw invalidArgument(context.flag, `${context.flag} must be a number from 1 to ${most}.`);
    },
  }),
  /** Traffic of each sandbox in a day. */
  sandboxTrafficGb: flag({
    name: 'sandbox-traffic-gb',
    default: 'none',
    help: 'GB of network traffic a day (UTC) of each sandbox, both ways',
    parse: (text, context) => parseLimit(text, context, limits.quotaMax),
  }),
  /** Speed of the way out, which owners of sandboxes divide. */
  uplinkMbps: flag({
    name: 'uplink-mbps',
    default: 'auto',
    help: "Mbit/s of the host's uplink, each way, which users share when it is full; none: no sharing; auto: the link's speed",
    parse: (text, context): number | 'auto' | null =>
      text === 'auto' ? 'auto' : parseLimit(text, context, limits.quotaMax),
  }),
};
