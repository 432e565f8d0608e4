/** The engine of a service whose sandboxes are Pods of a Kubernetes. Loaded only with --runtime kubernetes. */
import { createAgentLink } from '../../agent-link/agent-link.ts';
import {
  type CertifiedKey,
  certifySandbox,
  certifyService,
  openAuthority,
  serviceIdentity,
} from '../../agent-link/authority.ts';
import { packDisk, unpackDisk } from '../../agent-link/carrier.ts';
import { createConnector } from '../../agent-link/connector.ts';
import { assertTenure } from '../../control/base/tenure.ts';
import type { AgentLink, Clock, Log, RegistryCredentialStore, Store } from '../../control/ports/index.ts';
import type { ArchiveOptions } from '../../model/archive-options.ts';
import type { KubernetesOptions } from '../../model/kubernetes-options.ts';
import { GiB } from '../../model/limits.ts';
import type { MachineSize } from '../../model/quota.ts';
import type { RegistryRules } from '../../model/registries.ts';
import type { Exit } from '../../outbound/exit.ts';
import { collectArchives } from '../../runtime/archives/places.ts';
import { folderInCluster } from '../../runtime/archives/s3/own-folder.ts';
import { type Api, createApi, fenced } from '../../runtime/kubernetes/client/api.ts';
import { findConnection } from '../../runtime/kubernetes/client/connection.ts';
import { fromApi } from '../../runtime/kubernetes/client/failure.ts';
import { amountOf, type Node, nodesPath } from '../../runtime/kubernetes/client/objects.ts';
import {
  AGENT_PORT,
  type AgentDoor,
  type KubernetesSettings,
} from '../../runtime/kubernetes/client/settings.ts';
import { checkCluster } from '../../runtime/kubernetes/cluster-check.ts';
import { createKubernetesImages } from '../../runtime/kubernetes/images/images.ts';
import { createKubernetesRuntime } from '../../runtime/kubernetes/runtime.ts';
import { installationOf, type Secrets } from '../../store/files/secrets.ts';
import { type Engine, encryptionOf } from './engine.ts';
import { openRemoteArchives } from './optional-parts.ts';

export interface KubernetesDependencies {
  /** Their key names the installation, so that every replica knows its Pods. */
  secrets: Secrets;
  store: Pick<Store, 'serviceSecrets' | 'replicas'>;
  options: KubernetesOptions;
  archives: ArchiveOptions;
  registries: { rules: RegistryRules; credentials: RegistryCredentialStore };
  exit: Exit;
  clock: Clock;
  log: Log;
}

/**
 * Rejects with `failed_precondition` when no access to a cluster is found, or the bucket for archives cannot be used.
 * Contacts the cluster not before `init`.
 */
export async function openKubernetes(parts: KubernetesDependencies): Promise<Engine> {
  const { options, secrets, store, registries, exit, clock, log } = parts;
  const instance = installationOf(secrets);
  const connection = await findConnection(options.kubeconfig);
  const settings: KubernetesSettings = {
    instanceId: instance,
    namespace: options.namespace ?? connection.namespace ?? 'default',
    agentImage: options.agentImage,
    storageClass: options.storageClass,
    runtimeClass: options.runtimeClass,
    gpuResource: options.gpuResource,
    network: {
      serviceNamespace: connection.isPod ? connection.namespace : null,
      clients: options.agentClients,
      refused: options.clusterNetworks,
    },
  };
  const api = fenced(createApi(connection), () => assertTenure(store.replicas));
  const images = createKubernetesImages({
    ...{ api, settings, log },
    baseImage: options.baseImage,
    rules: registries.rules,
    exit,
    credentials: (registry) => registries.credentials.get(registry),
  });
  const door = createAgentDoor(
    await openAuthority(store.serviceSecrets, instance, clock.now()),
    instance,
    clock,
  );
  const authority = connection.tls.ca ?? connection.server.href;
  const ownFolder = folderInCluster(instance, authority, settings.namespace);
  const remoteArchives = await openRemoteArchives(parts.archives, ownFolder, log);
  const runtime = createKubernetesRuntime({
    ...{ api, settings, door, place: images.place, placeAgent: images.placeAgent, log },
    carrierLink: { pack: packDisk, unpack: unpackDisk },
    remoteArchives,
    installationKey: secrets.deriveKey('archive signature'),
    encryption: encryptionOf(secrets, parts.archives.encrypted),
    assertTenure: () => assertTenure(store.replicas),
  });
  return {
    runtime: {
      ...runtime,
      async close() {
        await runtime.close();
        api.close();
      },
    },
    images,
    agent: withWarnings(createAgentLink({ openChannel: (id) => runtime.openChannel(id) }), log),
    networkEvents: null,
    remoteArchives: remoteArchives && {
      collect: (request) => collectArchives(remoteArchives.place, request, log),
    },
    size: () => sizeOf(api),
    async init() {
      log.info('access to Kubernetes found', { from: connection.from, server: connection.server.host });
      await runtime.init();
      await images.init();
    },
  };
}

/** Each start begins with a hello. */
function withWarnings(link: AgentLink, log: Log): AgentLink {
  return {
    ...link,
    async hello(id, generation) {
      const greeting = await link.hello(id, generation);
      if (greeting.persistence === 'folders')
        log.warn('the node or the storage class takes no overlay: a stop keeps /workspace and /home alone', {
          sandbox: id,
        });
      return greeting;
    },
  };
}

/** Makes the checks of a start for `sandhaven doctor`, and describes what was found. Rejects as a start does. */
export async function examineCluster(options: KubernetesOptions): Promise<string> {
  const connection = await findConnection(options.kubeconfig);
  const api = createApi(connection);
  try {
    const namespace = options.namespace ?? connection.namespace ?? 'default';
    const facts = await checkCluster(api, { namespace, storageClass: options.storageClass });
    const grow = facts.growsDisks ? 'disks can grow' : 'disks cannot grow';
    return [
      `API          Kubernetes ${facts.version} at ${connection.server.host}, by ${connection.from}`,
      `permissions  all that are needed in the namespace ${facts.namespace}`,
      `storage      class ${facts.storageClass}; ${grow}`,
    ].join('\n');
  } finally {
    api.close();
  }
}

/** All nodes together; disks are the storage class's, so they count as none. */
async function sizeOf(api: Api): Promise<MachineSize> {
  const nodes: Node[] = [];
  try {
    await api.list<Node>(nodesPath, (page) => nodes.push(...page), {});
  } catch (error) {
    throw fromApi(error, 'The nodes of Kubernetes could not be listed.');
  }
  const sum = (resource: string) =>
    nodes.reduce((total, { status }) => total + amountOf(status?.allocatable?.[resource]), 0);
  return { processors: sum('cpu'), memoryGb: sum('memory') / GiB, diskGb: 0 };
}

/** Certificates of agents on the cluster's network, and the service's connections to them. */
export function createAgentDoor(authority: CertifiedKey, instance: string, clock: Clock): AgentDoor {
  const own = certifyService(authority, instance, clock.now());
  const connector = createConnector(authority.certificate, own);
  return {
    service: serviceIdentity(instance),

    credentialsFor(id, generation) {
      const { certificate, key } = certifySandbox(authority, id, generation, clock.now());
      return { 'tls.key': key, 'tls.crt': certificate, 'ca.crt': authority.certificate };
    },

    connect: (host, sandboxId, generation, starting) =>
      connector.open({ host, port: AGENT_PORT, sandboxId, generation }, starting),
  };
}
