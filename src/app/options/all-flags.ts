/** The flags of `sandhaven up`, in the order of its help. A new flag is one file and one line here. */
import { archiveEncryption } from './archives/archive-encryption.ts';
import { archiveStore } from './archives/archive-store.ts';
import { s3CredentialsFile } from './archives/s3-credentials-file.ts';
import { s3Endpoint } from './archives/s3-endpoint.ts';
import { s3PathStyle } from './archives/s3-path-style.ts';
import { s3Region } from './archives/s3-region.ts';
import { agentClients } from './kubernetes/agent-clients.ts';
import { agentImage } from './kubernetes/agent-image.ts';
import { baseImage } from './kubernetes/base-image.ts';
import { clusterNetworks } from './kubernetes/cluster-networks.ts';
import { gpuResource } from './kubernetes/gpu-resource.ts';
import { kubeconfig } from './kubernetes/kubeconfig.ts';
import { namespace } from './kubernetes/namespace.ts';
import { nodeLost } from './kubernetes/node-lost.ts';
import { nodeLostAfterSeconds } from './kubernetes/node-lost-after-seconds.ts';
import { runtimeClass } from './kubernetes/runtime-class.ts';
import { storageClass } from './kubernetes/storage-class.ts';
import { listen } from './network/listen.ts';
import { previewDomain } from './network/preview-domain.ts';
import { previewListen } from './network/preview-listen.ts';
import { previewUrl } from './network/preview-url.ts';
import { publicUrl } from './network/public-url.ts';
import { sshListen } from './network/ssh-listen.ts';
import { sshPublic } from './network/ssh-public.ts';
import { tlsCert } from './network/tls-cert.ts';
import { tlsKey } from './network/tls-key.ts';
import { trustedProxies } from './network/trusted-proxy.ts';
import { githubApiUrl } from './provider/github-api-url.ts';
import { githubAppId } from './provider/github-app-id.ts';
import { githubAppPrivateKeyFile } from './provider/github-app-private-key-file.ts';
import { githubAppSlug } from './provider/github-app-slug.ts';
import { githubClientId } from './provider/github-client-id.ts';
import { githubClientSecretFile } from './provider/github-client-secret-file.ts';
import { githubUrl } from './provider/github-url.ts';
import { defaultNetwork } from './sandboxes/default-network.ts';
import { gitAllow } from './sandboxes/git-allow.ts';
import { gpuKind } from './sandboxes/gpu-kind.ts';
import { imageKeptMinutes } from './sandboxes/image-kept-minutes.ts';
import { machineRuntime } from './sandboxes/machine-runtime.ts';
import { mostNetwork } from './sandboxes/most-network.ts';
import { allowedImages } from './sandboxes/registry-allow.ts';
import { registryMirrors } from './sandboxes/registry-mirror.ts';
import { runtime } from './sandboxes/runtime.ts';
import { sandboxBandwidthMbps } from './sandboxes/traffic/sandbox-bandwidth-mbps.ts';
import { sandboxConnectionsPerSecond } from './sandboxes/traffic/sandbox-connections-per-second.ts';
import { sandboxTrafficGb } from './sandboxes/traffic/sandbox-traffic-gb.ts';
import { uplinkMbps } from './sandboxes/traffic/uplink-mbps.ts';
import { warmPool } from './sandboxes/warm-pool.ts';
import { adminsReadInside } from './service/admins-read-inside.ts';
import { auditKeptDays } from './service/audit-kept-days.ts';
import { dataDir } from './service/data-dir.ts';
import { otlpEndpoint } from './service/otlp-endpoint.ts';
import { passwordSignIn } from './service/password-sign-in.ts';
import { regions } from './service/region.ts';
import { storeUrl } from './service/store.ts';
import { toolsets } from './service/toolsets.ts';
import { webhookAllow } from './service/webhook-allow.ts';
import { oidcAdminGroups } from './sign-in/oidc-admin-groups.ts';
import { oidcClientId } from './sign-in/oidc-client-id.ts';
import { oidcClientSecretFile } from './sign-in/oidc-client-secret-file.ts';
import { oidcEmailDomains } from './sign-in/oidc-email-domains.ts';
import { oidcGroupsClaim } from './sign-in/oidc-groups-claim.ts';
import { oidcIssuer } from './sign-in/oidc-issuer.ts';
import { oidcMemberGroups } from './sign-in/oidc-member-groups.ts';
import { oidcName } from './sign-in/oidc-name.ts';
import { oidcScopes } from './sign-in/oidc-scopes.ts';
import { diskOvercommit } from './tenants/disk-overcommit.ts';
import { quotaBandwidthMbps } from './tenants/quota-bandwidth-mbps.ts';
import { quotaConnectionsPerSecond } from './tenants/quota-connections-per-second.ts';
import { quotaCpu } from './tenants/quota-cpu.ts';
import { quotaDiskGb } from './tenants/quota-disk-gb.ts';
import { quotaMemoryGb } from './tenants/quota-memory-gb.ts';
import { quotaSandboxes } from './tenants/quota-sandboxes.ts';
import { quotaSnapshots } from './tenants/quota-snapshots.ts';
import { quotaTrafficGb } from './tenants/quota-traffic-gb.ts';
import { rate } from './tenants/rate.ts';

export const allFlags = {
  listen,
  previewListen,
  previewDomain,
  previewUrl,
  publicUrl,
  trustedProxies,
  tlsCert,
  tlsKey,
  sshListen,
  sshPublic,
  dataDir,
  storeUrl,
  warmPool,
  imageKeptMinutes,
  auditKeptDays,
  runtime,
  machineRuntime,
  regions,
  toolsets,
  passwordSignIn,
  adminsReadInside,
  otlpEndpoint,
  webhookAllow,
  archiveStore,
  archiveEncryption,
  s3Endpoint,
  s3Region,
  s3PathStyle,
  s3CredentialsFile,
  gpuKind,
  defaultNetwork,
  mostNetwork,
  sandboxBandwidthMbps,
  sandboxConnectionsPerSecond,
  sandboxTrafficGb,
  uplinkMbps,
  gitAllow,
  registryMirrors,
  allowedImages,
  githubUrl,
  githubApiUrl,
  githubClientId,
  githubClientSecretFile,
  githubAppId,
  githubAppSlug,
  githubAppPrivateKeyFile,
  oidcIssuer,
  oidcClientId,
  oidcClientSecretFile,
  oidcScopes,
  oidcGroupsClaim,
  oidcAdminGroups,
  oidcMemberGroups,
  oidcEmailDomains,
  oidcName,
  diskOvercommit,
  quotaSandboxes,
  quotaCpu,
  quotaMemoryGb,
  quotaDiskGb,
  quotaSnapshots,
  quotaBandwidthMbps,
  quotaConnectionsPerSecond,
  quotaTrafficGb,
  rate,
  kubeconfig,
  namespace,
  nodeLost,
  nodeLostAfterSeconds,
  agentImage,
  baseImage,
  storageClass,
  runtimeClass,
  gpuResource,
  agentClients,
  clusterNetworks,
};

/** One value for each flag. */
export type FlagValues = { [Key in keyof typeof allFlags]: ReturnType<(typeof allFlags)[Key]['parse']> };
