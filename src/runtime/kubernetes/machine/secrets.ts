/** Secrets with the certificate of a sandbox's agent: one for each generation, removed with its Pod. */
import type { Api } from '../client/api.ts';
import { isMissing, isThere } from '../client/failure.ts';
import { inNamespace } from '../client/objects.ts';
import type { AgentDoor, KubernetesSettings } from '../client/settings.ts';
import { secretName, selectorOf } from './names.ts';
import { secretOf } from './pod-spec.ts';

export interface Secrets {
  /** Makes the Secret; gives one that an interrupted start has left new contents. */
  put(id: string, generation: number): Promise<void>;
  remove(id: string, generation: number): Promise<void>;
  removeAll(id: string): Promise<void>;
}

interface Dependencies {
  api: Api;
  door: Pick<AgentDoor, 'credentialsFor'>;
  settings: KubernetesSettings;
}

export function createSecrets({ api, door, settings }: Dependencies): Secrets {
  const pathOf = (name?: string) => inNamespace(settings.namespace, 'secrets', name);
  return {
    async put(id, generation) {
      const secret = secretOf(settings, id, generation, door.credentialsFor(id, generation));
      try {
        await api.create(pathOf(), secret);
      } catch (error) {
        if (!isThere(error)) throw error;
        await api.replace(pathOf(secret.metadata.name), secret);
      }
    },

    async remove(id, generation) {
      try {
        await api.remove(pathOf(secretName(id, generation)));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },

    removeAll: (id) =>
      api.remove(pathOf(), undefined, { query: { labelSelector: selectorOf(settings.instanceId, id) } }),
  };
}
