/** Runtimes over a test cluster, with real agents in images of the cluster's registry. */

import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';
import { makeAuthority } from '../../../src/agent-link/authority.ts';
import { packDisk, unpackDisk } from '../../../src/agent-link/carrier.ts';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { createAgentDoor } from '../../../src/app/engine/kubernetes.ts';
import type { AgentLink, Log, Runtime } from '../../../src/control/ports/index.ts';
import { randomText } from '../../../src/model/ids.ts';
import type { RemotePlace } from '../../../src/runtime/archives/places.ts';
import { createApi } from '../../../src/runtime/kubernetes/client/api.ts';
import { findConnection } from '../../../src/runtime/kubernetes/client/connection.ts';
import type { KubernetesSettings } from '../../../src/runtime/kubernetes/client/settings.ts';
import { createKubernetesRuntime } from '../../../src/runtime/kubernetes/runtime.ts';
import { testEncryption } from '../../archives/test-encryption.ts';
import type { Cluster } from '../cluster.ts';
import { pushBusybox, pushFiles, pushImage } from '../images.ts';

export interface KubernetesRuntime extends Runtime {
  /** From now on it changes nothing any more, as after a kill of its process. */
  kill(): void;
}

export interface KubernetesHost {
  settings: KubernetesSettings;
  /** Reference of the image that sandboxes have. */
  image: string;
  /** Begins a runtime of the same instance, with a memory of its own; `kill` takes the API away from it. */
  open(): Promise<KubernetesRuntime>;
}

const AGENT = join(NATIVE, 'sandhaven-agent');

export const quiet: Log = { info() {}, warn() {}, error() {} };

export function pushAgent(registry: string): string {
  return pushFiles(registry, 'sandhaven-agent:1', {}, (root) => {
    copyFileSync(AGENT, join(root, 'sandhaven-agent'));
    chmodSync(join(root, 'sandhaven-agent'), 0o755);
    for (const folder of ['proc', 'sys', 'dev']) mkdirSync(join(root, folder));
  });
}

/** The standard base image, as `make image` has unpacked it. */
export function pushBase(registry: string): string {
  const base = realpathSync(join(homedir(), '.cache/sandhaven/base/current'));
  const { env } = JSON.parse(readFileSync(join(base, 'image.json'), 'utf8')) as {
    env: Record<string, string>;
  };
  return pushImage(registry, 'base:1', join(base, 'rootfs'), {
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
  });
}

/** Address by which nodes see this machine. */
export function hostAddress({ registry }: Cluster): string {
  return `${registry.split('.').slice(0, 3).join('.')}.254`;
}

interface HostOptions {
  log?: Log;
  image?: string;
  /** Opens the place of archives; without it there are none. */
  remoteArchives?: (settings: KubernetesSettings) => Promise<RemotePlace>;
}

export async function openHost(
  cluster: Cluster,
  { log = quiet, image = pushBusybox(cluster.registry), remoteArchives }: HostOptions = {},
): Promise<KubernetesHost> {
  const settings: KubernetesSettings = {
    instanceId: randomText(6),
    namespace: 'default',
    agentImage: pushAgent(cluster.registry),
    storageClass: null,
    runtimeClass: null,
    gpuResource: 'nvidia.com/gpu',
    network: { serviceNamespace: null, clients: [`${hostAddress(cluster)}/32`], refused: [] },
  };
  const authority = makeAuthority(settings.instanceId, Date.now());
  return {
    settings,
    image,
    async open() {
      let isKilled = false;
      const token = async () => {
        if (isKilled) throw new Error('killed');
        return null;
      };
      const api = createApi({ ...(await findConnection(cluster.kubeconfig)), token });
      const runtime = createKubernetesRuntime({
        api,
        settings,
        door: createAgentDoor(authority, settings.instanceId, Date),
        place: async () => ({ reference: image, pullSecrets: [] }),
        placeAgent: async () => ({ reference: settings.agentImage, pullSecrets: [] }),
        carrierLink: { pack: packDisk, unpack: unpackDisk },
        remoteArchives: (await remoteArchives?.(settings)) ?? null,
        installationKey: Buffer.alloc(32, 1),
        encryption: testEncryption({ encrypts: false }),
        assertTenure: () => {},
        log,
      });
      await runtime.init();
      const close = runtime.close;
      return {
        ...runtime,
        kill() {
          isKilled = true;
        },
        async close() {
          await close();
          api.close();
        },
      };
    },
  };
}

export function agentOf(runtime: Runtime): AgentLink {
  return createAgentLink({ openChannel: (id) => runtime.openChannel(id) });
}

/** Returns what a script prints; rejects when its status is not 0. */
export async function sh(runtime: Runtime, id: string, script: string): Promise<string> {
  const request = { argv: ['sh', '-c', script], cwd: '/', env: { PATH: '/bin:/usr/bin' }, timeoutMs: 30_000 };
  const { exitCode, output } = await agentOf(runtime).exec(id, request);
  if (exitCode !== 0) throw new Error(`status ${exitCode}: ${output}`);
  return output.trim();
}

/** Lists what the API server has of a sandbox. */
export async function tracesOf({ api }: Cluster, id: string): Promise<string[]> {
  const kinds = ['configmaps', 'persistentvolumeclaims', 'pods', 'secrets'];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const path = `/api/v1/namespaces/default/${kind}?labelSelector=sandhaven.dev/sandbox=${id}`;
      const { items } = await api.get(path);
      return items.map(({ metadata }: { metadata: { name: string } }) => `${kind}/${metadata.name}`);
    }),
  );
  return lists.flat();
}

/** A port of this machine that leads to the address. */
export async function forwardTo(address: string): Promise<Server> {
  const [host, port] = address.split(':');
  const server = createServer((client) => {
    const upstream = connect(Number(port), host ?? '');
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
