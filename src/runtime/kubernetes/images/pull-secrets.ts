/**
 * Credentials of registries for the kubelet, one Secret for each registry: made when a Pod is about to need it, replaced
 * when the credential has changed, removed with it.
 */
import { createHash } from 'node:crypto';
import type { RegistryCredential } from '../../../control/ports/index.ts';
import { DEFAULT_REGISTRY, registryKey } from '../../../model/registries.ts';
import type { Credentials } from '../../images/registry/http.ts';
import type { Api } from '../client/api.ts';
import { isMissing, isThere } from '../client/failure.ts';
import { inNamespace, type KubeObject, type Secret } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import { instanceLabels } from '../machine/names.ts';

export interface PullSecrets {
  /** Returns the Secret's name; null where the service has no credential for the registry. */
  ensure(registry: string): Promise<string | null>;
  /** Removes those of registries without a credential. */
  prune(): Promise<void>;
}

const KIND = 'sandhaven.dev/kind';
const REGISTRY = 'sandhaven.dev/registry';

/** The kubelet knows Docker's own registry by this name. */
const DOCKER_KEY = 'https://index.docker.io/v1/';

export function createPullSecrets(
  api: Api,
  { namespace, instanceId }: KubernetesSettings,
  credentials: Credentials,
): PullSecrets {
  /**
   * Contents that this process has written, as hashes, by name. They save a write, not the question whether the Secret is there:
   * another replica may have removed it.
   */
  const written = new Map<string, string>();
  const own = { ...instanceLabels(instanceId), [KIND]: 'pull' };
  const pathOf = (name?: string) => inNamespace(namespace, 'secrets', name);

  return {
    async ensure(registry) {
      const key = registryKey(registry);
      const credential = await credentials(key);
      if (credential === null) return null;
      const name = `sandhaven-pull-${instanceId}-${hashOf(key).slice(0, 16)}`;
      const content = contentOf(registry, credential);
      const hash = hashOf(content);
      const secret: Secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/dockerconfigjson',
        metadata: { name, namespace, labels: own, annotations: { [REGISTRY]: key } },
        stringData: { '.dockerconfigjson': content },
      };
      try {
        await api.create(pathOf(), secret);
      } catch (error) {
        if (!isThere(error)) throw error;
        if (written.get(name) !== hash) await api.replace(pathOf(name), secret);
      }
      written.set(name, hash);
      return name;
    },

    async prune() {
      const found: KubeObject[] = [];
      const labelSelector = Object.entries(own)
        .map(([name, value]) => `${name}=${value}`)
        .join(',');
      await api.list<KubeObject>(pathOf(), (page) => found.push(...page), {
        query: { labelSelector },
        metadataOnly: true,
      });
      for (const { metadata } of found) {
        if (await credentials(metadata.annotations?.[REGISTRY] ?? '')) continue;
        written.delete(metadata.name);
        await api.remove(pathOf(metadata.name)).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
      }
    },
  };
}

/** Names one registry alone, so that no other ever receives the credentials. */
function contentOf(registry: string, { username, password }: RegistryCredential): string {
  const key = registryKey(registry) === DEFAULT_REGISTRY ? DOCKER_KEY : registry;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return JSON.stringify({ auths: { [key]: { username, password, auth } } });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
