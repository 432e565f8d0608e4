/** Options of a service whose sandboxes are Pods of a Kubernetes. */
import { invalidArgument } from './errors.ts';
import type { NodeLoss } from './lost-node.ts';

/** A network in CIDR, in its parts. */
interface Network {
  network: string;
  prefix: number;
}

export interface KubernetesOptions {
  /** null: the Pod's own account, KUBECONFIG or ~/.kube/config. */
  kubeconfig: string | null;
  /** null: that of the credentials, else `default`. */
  namespace: string | null;
  agentImage: string;
  baseImage: string;
  /** null for the cluster's default. */
  storageClass: string | null;
  runtimeClass: string | null;
  gpuResource: string;
  /** Networks that the service connects from. */
  agentClients: string[];
  /** Networks that sandboxes may not reach, beside those that are not public. */
  clusterNetworks: string[];
  nodeLoss: NodeLoss;
}

export interface KubernetesTexts {
  runtime: 'oci' | 'kubernetes';
  kubeconfig: string;
  namespace: string;
  agentImage: string;
  baseImage: string;
  storageClass: string;
  runtimeClass: string;
  gpuResource: string;
  agentClients: Network[];
  clusterNetworks: Network[];
  nodeLost: 'error' | 'restart';
  nodeLostAfterSeconds: number;
}

/** Names of the API (RFC 1123): a namespace is a label, classes are names of hosts. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;
const RESOURCE = /^[a-z0-9.-]{1,253}\/[A-Za-z0-9._-]{1,63}$/;

/** Returns null for another runtime. Throws `invalid_argument` naming the flag. */
export function parseKubernetesOptions(texts: KubernetesTexts): KubernetesOptions | null {
  if (texts.runtime !== 'kubernetes') return null;
  const named = (flag: string, text: string): string | null => {
    if (text === '') return null;
    if (NAME.test(text)) return text;
    throw invalidArgument(
      flag,
      `${flag} must be the name of an object of Kubernetes, and '${text}' was given.`,
    );
  };
  const needed = (flag: string, text: string): string => {
    if (text !== '') return text;
    throw invalidArgument(flag, `${flag} is missing.`, '--runtime kubernetes needs it.');
  };
  if (!RESOURCE.test(texts.gpuResource))
    throw invalidArgument('--gpu-resource', '--gpu-resource must be a resource such as nvidia.com/gpu.');
  return {
    kubeconfig: texts.kubeconfig === '' ? null : texts.kubeconfig,
    namespace: named('--namespace', texts.namespace),
    agentImage: needed('--agent-image', texts.agentImage),
    baseImage: needed('--base-image', texts.baseImage),
    storageClass: named('--storage-class', texts.storageClass),
    runtimeClass: named('--runtime-class', texts.runtimeClass),
    gpuResource: texts.gpuResource,
    agentClients: texts.agentClients.map(formatNetwork),
    clusterNetworks: texts.clusterNetworks.map(formatNetwork),
    nodeLoss: { afterMs: texts.nodeLostAfterSeconds * 1000, restarts: texts.nodeLost === 'restart' },
  };
}

const formatNetwork = ({ network, prefix }: Network): string => `${network}/${prefix}`;
