/** Options of `sandhaven up`: single flags, and values that several flags give together. */
import { type IdentityOptions, parseIdentityOptions } from '../../model/access/identity-options.ts';
import {
  type ArchiveOptions,
  parseArchiveOptions,
  parseS3Environment,
  type S3Environment,
} from '../../model/archive-options.ts';
import type { DiskStoreOptions } from '../../model/disk-store.ts';
import { invalidArgument } from '../../model/errors.ts';
import { type KubernetesOptions, parseKubernetesOptions } from '../../model/kubernetes-options.ts';
import type { PreviewSite } from '../../model/network/service-names.ts';
import type { TrafficOptions } from '../../model/network/traffic.ts';
import {
  oneProvider,
  type ProviderName,
  type ProviderOptions,
  parseProviderOptions,
  providerNames,
  secretVariableOf,
} from '../../model/provider.ts';
import { networkQuotaKinds, type Quota } from '../../model/quota.ts';
import type { RegistryRules } from '../../model/registries.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { parseTracingOptions, type TracingOptions } from '../../model/tracing-options.ts';
import { allFlags, type FlagValues } from './all-flags.ts';
import { archiveFlags, diskStoreFlags } from './disks.ts';
import { kubernetesFlags } from './kubernetes.ts';
import { listenerFlags } from './listeners.ts';
import { quotaFlags } from './quotas.ts';
import { trafficFlags } from './sandboxes.ts';
import { providerFlags, signInFlags } from './sign-in.ts';
import { labelOf, readSources } from './sources.ts';

/** Flags that are combined into one option. */
type Parts =
  | (typeof combined)[number]
  | keyof typeof archiveFlags
  | keyof typeof kubernetesFlags
  | keyof typeof providerFlags
  | keyof typeof quotaFlags
  | keyof typeof signInFlags
  | keyof typeof trafficFlags;

const combined = [
  'tlsCert',
  'tlsKey',
  'registryMirrors',
  'allowedImages',
  'storeUrl',
  'otlpEndpoint',
  'runtime',
  'diskStore',
  'diskStoreGb',
] as const;

export interface UpOptions extends Omit<FlagValues, Parts> {
  /** Quota of each user without one set by an admin; kinds at their defaults are absent. */
  quota: Partial<Quota>;
  /** File system that disks lie in. */
  diskStore: DiskStoreOptions;
  /** Limits of traffic. */
  traffic: TrafficOptions;
  /** PEM files of both listeners; null for plain HTTP. */
  tls: { certFile: string; keyFile: string } | null;
  /** The PostgreSQL database; null for SQLite in the data directory. */
  store: StoreAddress | null;
  /** Mirrors of registries, and the images allowed. */
  registryRules: RegistryRules;
  /** The code-hosting provider; null without one. */
  provider: ProviderOptions | null;
  /** The team's identity provider, for people with browsers; null without one. */
  identity: IdentityOptions | null;
  /** Place and encryption of new archives, and the S3 server of those that lie in a bucket. */
  archives: ArchiveOptions;
  /** The cluster whose Pods sandboxes are; null when the engine of this host makes them. */
  kubernetes: KubernetesOptions | null;
  /** Collector of traces; null without one. */
  tracing: TracingOptions | null;
  /** Proves that the service works before it is ready: creates a sandbox, runs code in it and deletes it. */
  prove: boolean;
}

/** Rejects an invalid value with `invalid_argument` that names the flag. */
export function parseUpOptions(argv: string[], env: NodeJS.ProcessEnv): UpOptions {
  const { given, prove } = readSources(argv, env);
  const values = Object.fromEntries(
    Object.entries(allFlags).map(([key, { name, default: usual, parse }]) => {
      const found = given.get(name);
      const context = { flag: labelOf(name, found?.source), chosen: found !== undefined };
      return [key, parse(found?.text ?? usual, context)];
    }),
  ) as FlagValues;
  const kubernetes = parseKubernetesOptions(values);
  const quota = quotaOf(values);
  if (kubernetes) assertOpenNetworks(values);
  if (kubernetes) assertNoneOfThisHost(given, quota);
  return {
    ...single(values),
    ...previewNames(values.previewDomain, values.previewUrl),
    tls: tlsFiles(values.tlsCert, values.tlsKey),
    registryRules: { mirrors: values.registryMirrors, allowed: values.allowedImages },
    store: values.storeUrl === null ? null : { url: values.storeUrl, password: env['PGPASSWORD'] || null },
    provider: oneProvider(providerNames.map((name) => providerOf(name, values, env))),
    identity: identityOf(values),
    archives: archivesOf(values, parseS3Environment(env)),
    kubernetes,
    tracing: parseTracingOptions(values.otlpEndpoint, env),
    diskStore: { kind: values.diskStore, sizeGb: values.diskStoreGb },
    traffic: trafficOf(values),
    quota,
    prove,
  };
}

/** The values that are options by themselves. */
function single(values: FlagValues): Omit<FlagValues, Parts> {
  const groups = {
    ...{ ...archiveFlags, ...kubernetesFlags, ...providerFlags },
    ...{ ...quotaFlags, ...signInFlags, ...trafficFlags },
  };
  const parts = new Set<string>([...combined, ...Object.keys(groups)]);
  return Object.fromEntries(Object.entries(values).filter(([key]) => !parts.has(key))) as Omit<
    FlagValues,
    Parts
  >;
}

/** Nothing on a cluster would put another network in force. */
function assertOpenNetworks({
  defaultNetwork,
  mostNetwork,
}: Pick<FlagValues, 'defaultNetwork' | 'mostNetwork'>): void {
  const flags = { 'default-network': defaultNetwork, 'most-network': mostNetwork };
  const narrow = Object.entries(flags).find(([, { mode }]) => mode !== 'open');
  if (!narrow) return;
  const name = `--${narrow[0]}`;
  throw invalidArgument(name, `${name} must be open with --runtime kubernetes.`, `Leave ${name} out.`);
}

/** Takes the domain from the URL when the URL is given alone. */
function previewNames(
  previewDomain: string,
  previewUrl: PreviewSite | null,
): Pick<UpOptions, 'previewDomain' | 'previewUrl'> {
  if (!previewUrl || previewUrl.domain === previewDomain) return { previewDomain, previewUrl };
  if (previewDomain === listenerFlags.previewDomain.default)
    return { previewDomain: previewUrl.domain, previewUrl };
  throw invalidArgument(
    '--preview-url',
    `--preview-url has the domain ${previewUrl.domain}, but --preview-domain is ${previewDomain}.`,
    'Leave --preview-domain out.',
  );
}

function tlsFiles(certFile: string, keyFile: string): UpOptions['tls'] {
  if (certFile !== '' && keyFile !== '') return { certFile, keyFile };
  if (certFile === '' && keyFile === '') return null;
  const missing = certFile === '' ? '--tls-cert' : '--tls-key';
  throw invalidArgument(missing, `${missing} is missing.`, 'Give both --tls-cert and --tls-key, or neither.');
}

function providerOf(name: ProviderName, values: FlagValues, env: NodeJS.ProcessEnv): ProviderOptions | null {
  const app = name === 'github';
  const texts = {
    url: values[`${name}Url`],
    apiUrl: values[`${name}ApiUrl`],
    clientId: values[`${name}ClientId`],
    clientSecretFile: values[`${name}ClientSecretFile`],
    appId: app ? values.githubAppId : '',
    appSlug: app ? values.githubAppSlug : '',
    appPrivateKeyFile: app ? values.githubAppPrivateKeyFile : '',
  };
  return parseProviderOptions(name, texts, env[secretVariableOf(name)] || null);
}

function identityOf(values: FlagValues): IdentityOptions | null {
  return parseIdentityOptions({
    issuer: values.oidcIssuer,
    clientId: values.oidcClientId,
    clientSecretFile: values.oidcClientSecretFile,
    scopes: values.oidcScopes,
    groupsClaim: values.oidcGroupsClaim,
    adminGroups: values.oidcAdminGroups,
    memberGroups: values.oidcMemberGroups,
    emailDomains: values.oidcEmailDomains,
    name: values.oidcName,
  });
}

function archivesOf(values: FlagValues, environment: S3Environment): ArchiveOptions {
  const texts = {
    store: values.archiveStore,
    endpoint: values.s3Endpoint,
    region: values.s3Region,
    pathStyle: values.s3PathStyle,
    credentialsFile: values.s3CredentialsFile,
    encrypted: values.archiveEncryption,
  };
  return parseArchiveOptions(texts, environment);
}

function quotaOf(values: FlagValues): Partial<Quota> {
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

function trafficOf(values: FlagValues): TrafficOptions {
  const each = {
    bandwidthMbps: values.sandboxBandwidthMbps,
    connectionsPerSecond: values.sandboxConnectionsPerSecond,
    gbPerDay: values.sandboxTrafficGb,
  };
  return { each, uplinkMbps: values.uplinkMbps };
}

/** Nothing on a cluster would count or limit traffic, and its storage classes make the disks. */
function assertNoneOfThisHost(given: ReadonlyMap<string, unknown>, quota: Partial<Quota>): void {
  const kinds = { bandwidth: 'bandwidth-mbps', connections: 'connections-per-second', traffic: 'traffic-gb' };
  const quotas = networkQuotaKinds.filter((kind) => typeof quota[kind] === 'number');
  const ofHost = Object.values({ ...trafficFlags, ...diskStoreFlags }).map(({ name }) => name);
  const flags = [
    ...ofHost.filter((name) => given.has(name)),
    ...quotas.map((kind) => `quota-${kinds[kind]}`),
  ];
  if (flags[0] === undefined) return;
  const name = `--${flags[0]}`;
  throw invalidArgument(name, `${name} does nothing with --runtime kubernetes.`, `Leave ${name} out.`);
}
