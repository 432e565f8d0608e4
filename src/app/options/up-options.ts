/** Options of `sandhaven up`: single flags, and values that several flags give together. */
import { type IdentityOptions, parseIdentityOptions } from '../../model/access/identity-options.ts';
import {
  type ArchiveOptions,
  parseArchiveOptions,
  parseS3Environment,
  type S3Environment,
} from '../../model/archive-options.ts';
import { invalidArgument } from '../../model/errors.ts';
import { type KubernetesOptions, parseKubernetesOptions } from '../../model/kubernetes/options.ts';
import type { PreviewSite } from '../../model/network/public-site.ts';
import { type ProviderOptions, parseProviderOptions } from '../../model/provider-options.ts';
import type { RegistryRules } from '../../model/registry-rules.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { parseTracingOptions, type TracingOptions } from '../../model/tracing/tracing-options.ts';
import { allFlags, type FlagValues } from './all-flags.ts';
import { labelOf, readSources } from './config/sources.ts';
import { previewDomain as previewDomainFlag } from './network/preview-domain.ts';
import {
  assertNoTrafficLimits,
  type ShareOptions,
  type TrafficFlag,
  takeQuotas,
  takeTraffic,
} from './tenants/shares.ts';

type KubernetesFlag =
  | 'kubeconfig'
  | 'namespace'
  | 'agentImage'
  | 'baseImage'
  | 'storageClass'
  | 'runtimeClass'
  | 'gpuResource'
  | 'agentClients'
  | 'clusterNetworks'
  | 'nodeLost'
  | 'nodeLostAfterSeconds';

/** Flags that are combined into one option. */
type Parts =
  | 'tlsCert'
  | 'tlsKey'
  | 'registryMirrors'
  | 'allowedImages'
  | 'storeUrl'
  | 'otlpEndpoint'
  | 'archiveStore'
  | 'archiveEncryption'
  | 'runtime'
  | KubernetesFlag
  | Extract<
      keyof FlagValues,
      `quota${string}` | TrafficFlag | `github${string}` | `oidc${string}` | `s3${string}`
    >;

export interface UpOptions extends Omit<FlagValues, Parts>, ShareOptions {
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
  const { tlsCert, tlsKey, registryMirrors, allowedImages, storeUrl, otlpEndpoint, ...others } = values;
  const { quota, ...withoutQuotas } = takeQuotas(others);
  const { provider, ...withoutProvider } = takeProvider(
    withoutQuotas,
    env['SANDHAVEN_GITHUB_CLIENT_SECRET'] || null,
  );
  const { identity, ...withoutIdentity } = takeIdentity(withoutProvider);
  const { archives, ...withoutArchives } = takeArchives(withoutIdentity, parseS3Environment(env));
  const { kubernetes, ...withTraffic } = takeKubernetes(withoutArchives);
  const { traffic, ...single } = takeTraffic(withTraffic);
  if (kubernetes) assertOpenNetworks(single);
  if (kubernetes) assertNoTrafficLimits(given, quota);
  return {
    ...single,
    ...previewNames(single.previewDomain, single.previewUrl),
    tls: tlsFiles(tlsCert, tlsKey),
    registryRules: { mirrors: registryMirrors, allowed: allowedImages },
    store: storeUrl === null ? null : { url: storeUrl, password: env['PGPASSWORD'] || null },
    provider,
    identity,
    archives,
    kubernetes,
    tracing: parseTracingOptions(otlpEndpoint, env),
    traffic,
    quota,
    prove,
  };
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
  if (previewDomain === previewDomainFlag.default) return { previewDomain: previewUrl.domain, previewUrl };
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

type OfProvider = Pick<FlagValues, Extract<keyof FlagValues, `github${string}`>>;

function takeProvider<T extends OfProvider>(
  values: T,
  clientSecret: string | null,
): Omit<T, keyof OfProvider> & Pick<UpOptions, 'provider'> {
  const {
    githubUrl,
    githubApiUrl,
    githubClientId,
    githubClientSecretFile,
    githubAppId,
    githubAppSlug,
    githubAppPrivateKeyFile,
    ...others
  } = values;
  const texts = {
    url: githubUrl,
    apiUrl: githubApiUrl,
    clientId: githubClientId,
    clientSecretFile: githubClientSecretFile,
    appId: githubAppId,
    appSlug: githubAppSlug,
    appPrivateKeyFile: githubAppPrivateKeyFile,
  };
  return { ...others, provider: parseProviderOptions(texts, clientSecret) };
}

type OfIdentity = Pick<FlagValues, Extract<keyof FlagValues, `oidc${string}`>>;

function takeIdentity<T extends OfIdentity>(
  values: T,
): Omit<T, keyof OfIdentity> & Pick<UpOptions, 'identity'> {
  const {
    oidcIssuer: issuer,
    oidcClientId: clientId,
    oidcClientSecretFile: clientSecretFile,
    oidcScopes: scopes,
    oidcGroupsClaim: groupsClaim,
    oidcAdminGroups: adminGroups,
    oidcMemberGroups: memberGroups,
    oidcEmailDomains: emailDomains,
    oidcName: name,
    ...others
  } = values;
  const registered = { issuer, clientId, clientSecretFile, scopes, name };
  const identity = parseIdentityOptions({
    ...registered,
    groupsClaim,
    adminGroups,
    memberGroups,
    emailDomains,
  });
  return { ...others, identity };
}

type OfArchives = Pick<FlagValues, Extract<keyof FlagValues, `archive${string}` | `s3${string}`>>;

function takeArchives<T extends OfArchives>(
  values: T,
  environment: S3Environment,
): Omit<T, keyof OfArchives> & Pick<UpOptions, 'archives'> {
  const { archiveStore, archiveEncryption, s3Endpoint, s3Region, s3PathStyle, s3CredentialsFile, ...others } =
    values;
  const texts = {
    store: archiveStore,
    endpoint: s3Endpoint,
    region: s3Region,
    pathStyle: s3PathStyle,
    credentialsFile: s3CredentialsFile,
    encrypted: archiveEncryption,
  };
  return { ...others, archives: parseArchiveOptions(texts, environment) };
}

type OfKubernetes = Pick<FlagValues, 'runtime' | KubernetesFlag>;

function takeKubernetes<T extends OfKubernetes>(
  values: T,
): Omit<T, keyof OfKubernetes> & Pick<UpOptions, 'kubernetes'> {
  const {
    runtime,
    kubeconfig,
    namespace,
    agentImage,
    baseImage,
    storageClass,
    runtimeClass,
    gpuResource,
    agentClients,
    clusterNetworks,
    nodeLost,
    nodeLostAfterSeconds,
    ...others
  } = values;
  const texts = { runtime, kubeconfig, namespace, agentImage, baseImage, storageClass, runtimeClass };
  const kubernetes = parseKubernetesOptions({
    ...{ ...texts, gpuResource, agentClients, clusterNetworks },
    ...{ nodeLost, nodeLostAfterSeconds },
  });
  return { ...others, kubernetes };
}
