/** Flags of sandboxes: their engine, pool, images, devices, networks, remotes and traffic. */
import type { PoolBounds } from '../../control/pool/size.ts';
import { invalidArgument } from '../../model/errors.ts';
import { defaultGpuKind, parseGpuKind } from '../../model/gpu-kind.ts';
import { limits } from '../../model/limits.ts';
import { parseAllowedHosts } from '../../model/network/allowed-hosts.ts';
import { parseNetworkText } from '../../model/network/setting.ts';
import { parseAllowedImages, parseRegistryMirrors } from '../../model/registries.ts';
import { flag, parseCount, parseLimit } from './flag.ts';

const { overcommit } = limits.disk;
const mostConnections = limits.network.newConnectionsPerSecond;

export const sandboxFlags = {
  /** Sandboxes made ahead of time: a number, or bounds between which the pool follows demand; 0 turns it off. */
  warmPool: flag({
    name: 'warm-pool',
    default: '4',
    help: 'sandboxes made ahead of time, 0 for none, 2..20 to follow demand',
    parse: (text, { flag }) => parseBounds(flag, text),
  }),
  /** Retention, in minutes, of an image that no sandbox and no snapshot uses. */
  imageKeptMinutes: flag({
    name: 'image-kept-minutes',
    default: String(limits.image.keptMinutes),
    help: 'minutes that an unused image is kept',
    parse: (text, { flag }) => parseCount(flag, text, limits.autoMinutesMax),
  }),
  /** Time without activity after which sandboxes sleep that have no own setting. */
  sleepAfterSeconds: flag({
    name: 'sleep-after',
    default: '0',
    help: 'seconds without activity after which sandboxes sleep that set none, 0 for never',
    parse: (text, { flag }) => parseCount(flag, text, limits.sleepAfterSeconds.max),
  }),
  /** Engine that makes the machines. */
  runtime: flag({
    name: 'runtime',
    default: 'oci',
    help: 'the engine: oci on this host, or kubernetes',
    parse(text, { flag }): 'oci' | 'kubernetes' {
      if (text === 'oci' || text === 'kubernetes') return text;
      throw invalidArgument(
        flag,
        `The engine '${text}' is not known.`,
        'Use --runtime oci or --runtime kubernetes.',
      );
    },
  }),
  /** Program that makes machines of the launcher's mounts, on this host. */
  machineRuntime: flag({
    name: 'machine-runtime',
    default: 'auto',
    help: 'program that starts machines on this host: runc, direct (the launcher itself), or auto, the faster one that works',
    parse(text, { flag }): 'auto' | 'runc' | 'direct' {
      if (text === 'auto' || text === 'runc' || text === 'direct') return text;
      throw invalidArgument(
        flag,
        `The machine runtime '${text}' is not known.`,
        'Use --machine-runtime auto, runc or direct.',
      );
    },
  }),
  /** Devices of the host that count as GPUs. */
  gpuKind: flag({
    name: 'gpu-kind',
    default: defaultGpuKind.kind,
    help: 'CDI kind of the GPUs that sandboxes get, vendor/class or vendor/class=name,name',
    parse: (text, { flag }) => parseGpuKind(flag, text),
  }),
  /** Network of sandboxes whose creation asks for none. */
  defaultNetwork: flag({
    name: 'default-network',
    default: 'open',
    help: 'network of sandboxes created without one: open, none, or profiles and rules such as packages,https://api.example.com',
    parse: (text, { flag }) => parseNetworkText(flag, text),
  }),
  /** Ceiling of the networks of all sandboxes. */
  mostNetwork: flag({
    name: 'most-network',
    default: 'open',
    help: 'upper bound of the network of every sandbox: open, none, or profiles and rules',
    parse: (text, { flag }) => parseNetworkText(flag, text),
  }),
  /** Non-public hosts and networks of Git remotes that may receive credentials. */
  gitAllow: flag({
    name: 'git-allow',
    default: '127.0.0.0/8,::1/128',
    help: 'hosts, host:port and networks that Git remotes with credentials may be on besides public ones, or none',
    parse: (text, { flag }) => parseAllowedHosts(flag, text),
  }),
  /** Mirrors of registries, tried before the registries themselves. */
  registryMirrors: flag({
    name: 'registry-mirror',
    default: '',
    help: 'mirrors that are tried before registries, such as docker.io=mirror.example:5000',
    parse: (text, { flag }) => parseRegistryMirrors(flag, text),
  }),
  /** Registries and repositories that images may come from. */
  allowedImages: flag({
    name: 'registry-allow',
    default: 'all',
    help: 'registries and repositories that images may come from, such as docker.io,registry.example/team/*, or none; those named may be at private addresses (all,registry.internal:5000)',
    parse: (text, { flag }) => parseAllowedImages(flag, text),
  }),
  /** GB that all disks of sandboxes may promise per free GB. */
  diskOvercommit: flag({
    name: 'disk-overcommit',
    default: String(overcommit.default),
    help: 'GB that all disks of sandboxes together may promise per free GB',
    parse(text, { flag }) {
      const factor = parseCount(flag, text, overcommit.max);
      if (factor >= overcommit.min) return factor;
      throw invalidArgument(flag, `${flag} must be at least ${overcommit.min}, and '${text}' was given.`);
    },
  }),
};

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
    default: String(mostConnections),
    help: `network connections that each sandbox may open a second, at most ${mostConnections}`,
    parse(text, context) {
      const count = parseLimit(text, context, mostConnections);
      if (count !== null) return count;
      throw invalidArgument(context.flag, `${context.flag} must be a number from 1 to ${mostConnections}.`);
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

function parseBounds(flag: string, text: string): PoolBounds {
  const count = (part: string): number => parseCount(flag, part, limits.warmPool.max);
  const [, least, most] = /^(\d+)\.\.(\d+)$/.exec(text) ?? [];
  if (least === undefined || most === undefined) return { min: count(text), max: count(text) };
  const bounds = { min: count(least), max: count(most) };
  if (bounds.min > bounds.max)
    throw invalidArgument(flag, `${flag} must name the smaller number first, and '${text}' was given.`);
  return bounds;
}
