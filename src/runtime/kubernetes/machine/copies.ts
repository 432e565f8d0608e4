/** Copies of the cluster's objects that the runtime follows: those of its own sandboxes, and the nodes. */
import type { Log } from '../../../control/ports/index.ts';
import type { Api } from '../client/api.ts';
import { createInformer, type Informer } from '../client/informer.ts';
import {
  type Claim,
  type ConfigMap,
  inNamespace,
  type KubeObject,
  type Node,
  nodesPath,
  type Pod,
} from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import { selectorOf } from './names.ts';

export interface Copies {
  pods: Informer<Pod>;
  claims: Informer<Claim>;
  /** Without their contents. */
  secrets: Informer<KubeObject>;
  /** Of archives. */
  notes: Informer<ConfigMap>;
  nodes: Informer<Node>;
  begin(): Promise<void>;
  close(): void;
}

export function createCopies(api: Api, { namespace, instanceId }: KubernetesSettings, log: Log): Copies {
  const labelSelector = selectorOf(instanceId);
  const own = { api, labelSelector, log };
  const pods = createInformer<Pod>({ ...own, path: inNamespace(namespace, 'pods'), what: 'Pods' });
  const claims = createInformer<Claim>({
    ...own,
    path: inNamespace(namespace, 'persistentvolumeclaims'),
    what: 'claims',
  });
  const secrets = createInformer<KubeObject>({
    ...own,
    path: inNamespace(namespace, 'secrets'),
    metadataOnly: true,
    what: 'Secrets',
  });
  const notes = createInformer<ConfigMap>({
    ...own,
    path: inNamespace(namespace, 'configmaps'),
    what: 'notes of archives',
  });
  const nodes = createInformer<Node>({ api, path: nodesPath, what: 'nodes', log });
  const all = [pods, claims, secrets, notes, nodes];
  return {
    pods,
    claims,
    secrets,
    notes,
    nodes,
    async begin() {
      for (const one of all) one.begin();
      await Promise.all(all.map((one) => one.current()));
    },
    close() {
      for (const one of all) one.close();
    },
  };
}
