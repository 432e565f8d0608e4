/** What `sandhaven up` can be told: flags, each also an environment variable (`--ssh-listen` = SANDHAVEN_SSH_LISTEN). */
import { parseArgs } from 'node:util';
import type { Rate } from '../fairness/rate.ts';
import { invalidArgument } from '../model/errors.ts';
import { type AllowedRemote, parseAllowedRemotes } from '../model/git/allowed-remotes.ts';
import { type GpuKind, parseGpuKind } from '../model/gpu-kind.ts';
import { limits } from '../model/limits.ts';
import { type Network, parseNetworks } from '../model/network/arrival.ts';
import {
  type PreviewSite,
  parseDomain,
  parsePreviewUrl,
  parsePublicUrl,
} from '../model/network/public-site.ts';
import { type ProviderOptions, parseProviderOptions } from '../model/provider-options.ts';
import type { Quota, QuotaKind } from '../model/quota.ts';
import { parseRegions, type Regions } from '../model/region.ts';
import { parseAllowedImages, parseRegistryMirrors, type RegistryRules } from '../model/registry-rules.ts';
import { environmentName, type FlagName, flags } from './option-flags.ts';

export interface Address {
  host: string;
  port: number;
}

/** One that nobody chose gives way when another service has it. */
export interface GatewayAddress extends Address {
  chosen: boolean;
}

export interface UpOptions {
  listen: Address;
  sshListen: GatewayAddress;
  previewListen: GatewayAddress;
  previewDomain: string;
  /** Where previews are for the world, when a proxy is before them or the listener has another name. */
  previewUrl: PreviewSite | null;
  /** The API's origin for the world, likewise. */
  publicUrl: string | null;
  /** The SSH gateway's address for the world, likewise. */
  sshPublic: Address | null;
  /** Proxies whose X-Forwarded headers are believed. */
  trustedProxies: Network[];
  /** PEM files for both listeners; null: plain HTTP. */
  tls: { certFile: string; keyFile: string } | null;
  regions: Regions;
  dataDir: string;
  /** Sandboxes made ahead of time; 0 turns the pool off. */
  warmPool: number;
  /** How long an image stays that no sandbox and no snapshot uses. */
  imageKeptMinutes: number;
  /** How long rows of the audit log stay; 0 for good. */
  auditKeptDays: number;
  runtime: 'oci';
  /** Groups of tools that MCP and lists of tools show, separated by commas. */
  toolsets: string;
  /** What counts as a GPU. */
  gpuKind: GpuKind;
  /** Hosts and networks that Git remotes with credentials may be on, besides public addresses. */
  gitAllow: AllowedRemote[];
  /** Where images come from, and which may come at all. */
  registryRules: RegistryRules;
  /** The code-hosting provider; null without one. */
  provider: ProviderOptions | null;
  /** What each user may have, unless an admin says otherwise; kinds of which nothing was said are absent. */
  quota: Partial<Quota>;
  /** GB that all disks may promise for each one that is free. */
  diskOvercommit: number;
  /** How often each key may call; null without a limit. */
  rate: Rate | null;
  /** Shows that it works before it says so: a sandbox created, code run, deleted. */
  prove: boolean;
}

export interface DocumentDbOptions {
  /** null: there is none. */
  connectionString: string | null;
  orderOfUse: 'enforce' | 'advise';
}

const WARM_POOL_MAX = 100;

/** Fails with `invalid_argument` naming the flag. */
export function parseUpOptions(argv: string[], env: NodeJS.ProcessEnv): UpOptions {
  const values: Record<string, string | boolean | undefined> = parse(argv).values;
  const value = (name: FlagName): string => {
    const given = values[name];
    return typeof given === 'string' ? given : (env[environmentName(name)] ?? flags[name].default);
  };
  const gateway = (name: 'preview-listen' | 'ssh-listen'): GatewayAddress => ({
    ...parseAddress(`--${name}`, value(name)),
    chosen: values[name] !== undefined || env[environmentName(name)] !== undefined,
  });
  if (value('runtime') !== 'oci') {
    throw invalidArgument(
      '--runtime',
      `The engine '${value('runtime')}' is not known.`,
      'Use --runtime oci.',
    );
  }
  return {
    listen: parseAddress('--listen', value('listen')),
    previewListen: gateway('preview-listen'),
    ...parsePreviewNames(value('preview-domain'), value('preview-url')),
    publicUrl: parsePublicUrl('--public-url', value('public-url')),
    trustedProxies: parseNetworks('--trusted-proxy', value('trusted-proxy')),
    tls: parseTls(value('tls-cert'), value('tls-key')),
    regions: parseRegions('--region', value('region')),
    sshListen: gateway('ssh-listen'),
    sshPublic: value('ssh-public') === '' ? null : parsePublicAddress('--ssh-public', value('ssh-public')),
    dataDir: value('data-dir'),
    warmPool: parseCount('--warm-pool', value('warm-pool'), WARM_POOL_MAX),
    imageKeptMinutes: parseCount('--image-kept-minutes', value('image-kept-minutes'), limits.autoMinutesMax),
    auditKeptDays: parseCount('--audit-kept-days', value('audit-kept-days'), limits.audit.keptDays.max),
    runtime: 'oci',
    toolsets: value('toolsets'),
    gpuKind: parseGpuKind('--gpu-kind', value('gpu-kind')),
    gitAllow: parseAllowedRemotes('--git-allow', value('git-allow')),
    registryRules: {
      mirrors: parseRegistryMirrors('--registry-mirror', value('registry-mirror')),
      allowed: parseAllowedImages('--registry-allow', value('registry-allow')),
    },
    provider: parseProviderOptions(value, env['SANDHAVEN_GITHUB_CLIENT_SECRET'] || null),
    quota: {
      ...parseLimit('sandboxes', '--quota-sandboxes', value('quota-sandboxes')),
      ...parseLimit('cpu', '--quota-cpu', value('quota-cpu')),
      ...parseLimit('memory', '--quota-memory-gb', value('quota-memory-gb')),
      ...parseLimit('disk', '--quota-disk-gb', value('quota-disk-gb')),
      ...parseLimit('snapshots', '--quota-snapshots', value('quota-snapshots')),
    },
    diskOvercommit: parseOvercommit('--disk-overcommit', value('disk-overcommit')),
    rate: parseRate('--rate', value('rate')),
    prove: values['prove'] === true,
  };
}

/** The operator's document database: a secret, and so never a flag. Fails with `invalid_argument` naming the variable. */
export function parseDocumentDbOptions(env: NodeJS.ProcessEnv): DocumentDbOptions {
  const orderOfUse = env['DOCUMENTDB_ORDER_OF_USE'] || 'enforce';
  if (orderOfUse !== 'enforce' && orderOfUse !== 'advise') {
    throw invalidArgument(
      'DOCUMENTDB_ORDER_OF_USE',
      `DOCUMENTDB_ORDER_OF_USE must be enforce or advise, and '${orderOfUse}' was given.`,
    );
  }
  return { connectionString: env['DOCUMENTDB_CONNECTION_STRING'] || null, orderOfUse };
}

function parse(argv: string[]) {
  const strings = Object.fromEntries(Object.keys(flags).map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: argv, options: { ...strings, prove: { type: 'boolean' } }, strict: true });
  } catch (error) {
    throw invalidArgument(
      'flags',
      error instanceof Error ? error.message : 'The flags are not understood.',
      'See sandhaven up --help.',
    );
  }
}

function parseAddress(flag: string, text: string): Address {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (!host || port > 65_535) {
    throw invalidArgument(
      flag,
      `${flag} must be host:port, and '${text}' was given.`,
      'For example 127.0.0.1:7420.',
    );
  }
  return { host, port };
}

/** An address that others connect to: it has a port, and is not all addresses of a machine. */
function parsePublicAddress(flag: string, text: string): Address {
  const address = parseAddress(flag, text);
  if (address.port > 0 && !['0.0.0.0', '::'].includes(address.host)) return address;
  throw invalidArgument(
    flag,
    `${flag} must be where clients connect to, and '${text}' was given.`,
    'For example sandhaven.example.com:22.',
  );
}

/** The URL has the domain in it: given alone it says both. */
function parsePreviewNames(domain: string, url: string): Pick<UpOptions, 'previewDomain' | 'previewUrl'> {
  const previewDomain = parseDomain('--preview-domain', domain);
  const previewUrl = parsePreviewUrl('--preview-url', url);
  if (!previewUrl || previewUrl.domain === previewDomain) return { previewDomain, previewUrl };
  if (previewDomain === flags['preview-domain'].default)
    return { previewDomain: previewUrl.domain, previewUrl };
  throw invalidArgument(
    '--preview-url',
    `--preview-url is of the domain ${previewUrl.domain}, and --preview-domain is ${previewDomain}.`,
    'Leave --preview-domain out.',
  );
}

function parseTls(certFile: string, keyFile: string): UpOptions['tls'] {
  if (certFile !== '' && keyFile !== '') return { certFile, keyFile };
  if (certFile === '' && keyFile === '') return null;
  const missing = certFile === '' ? '--tls-cert' : '--tls-key';
  throw invalidArgument(missing, `${missing} is missing.`, 'Give both --tls-cert and --tls-key, or neither.');
}

function parseLimit(kind: QuotaKind, flag: string, text: string): Partial<Quota> {
  if (text === 'auto') return {};
  return { [kind]: text === 'none' ? null : parseCount(flag, text, limits.quotaMax) };
}

function parseOvercommit(flag: string, text: string): number {
  const { min, max } = limits.disk.overcommit;
  const factor = parseCount(flag, text, max);
  if (factor >= min) return factor;
  throw invalidArgument(flag, `${flag} must be at least ${min}, and '${text}' was given.`);
}

/** `50/200`: calls a second, and how many at once; as many as in a second where that is not given. */
function parseRate(flag: string, text: string): Rate | null {
  if (text === 'none') return null;
  const [perSecond = '', burst = perSecond, ...more] = text.split('/');
  const parsed = { perSecond: Number(perSecond), burst: Number(burst) };
  const whole = [perSecond, burst].every((part) => /^\d{1,6}$/.test(part) && Number(part) > 0);
  if (whole && more.length === 0) return parsed;
  throw invalidArgument(
    flag,
    `${flag} must be calls a second, and '${text}' was given.`,
    'For example 50, 50/200 for up to 200 at once, or none.',
  );
}

function parseCount(flag: string, text: string, max: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > max) {
    throw invalidArgument(flag, `${flag} must be a whole number from 0 to ${max}, and '${text}' was given.`);
  }
  return count;
}
