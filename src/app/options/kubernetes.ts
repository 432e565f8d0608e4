/** Flags of the engine on Kubernetes. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { parseNetworks } from '../../model/network/arrival.ts';
import { flag, parseCount } from './flag.ts';

const { min, max, default: standard } = limits.nodeLoss.afterSeconds;

export const kubernetesFlags = {
  /** Access to the Kubernetes API. */
  kubeconfig: flag({
    name: 'kubeconfig',
    default: '',
    group: 'kubernetes',
    help: 'file with access to the API; else that of the Pod, KUBECONFIG, or ~/.kube/config',
    parse: (text) => text,
  }),
  /** Namespace that sandboxes lie in. */
  namespace: flag({
    name: 'namespace',
    default: '',
    group: 'kubernetes',
    help: 'namespace of the sandboxes; else that of the kubeconfig, or default',
    parse: (text) => text,
  }),
  /** Fate of the sandboxes of a lost node. */
  nodeLost: flag({
    name: 'node-lost',
    default: 'error',
    group: 'kubernetes',
    help: 'error: sandboxes of a lost node stay in error; restart: they start elsewhere once the node was removed',
    parse: (text, { flag }): 'error' | 'restart' => {
      if (text === 'error' || text === 'restart') return text;
      throw invalidArgument(flag, `${flag} must be error or restart, and '${text}' was given.`);
    },
  }),
  /** Silence of a node that counts as its loss. */
  nodeLostAfterSeconds: flag({
    name: 'node-lost-after-seconds',
    default: String(standard),
    group: 'kubernetes',
    help: 'silence of a node after which its sandboxes are in error',
    parse: (text, { flag }) => {
      const seconds = parseCount(flag, text, max);
      if (seconds >= min) return seconds;
      throw invalidArgument(flag, `${flag} must be at least ${min}, and ${text} was given.`);
    },
  }),
  /** Image that brings the agent into Pods. */
  agentImage: flag({
    name: 'agent-image',
    default: '',
    group: 'kubernetes',
    help: 'image with sandhaven-agent in its root, which every Pod mounts',
    parse: (text) => text,
  }),
  /** The standard base image. */
  baseImage: flag({
    name: 'base-image',
    default: '',
    group: 'kubernetes',
    help: 'the standard base image, with its registry',
    parse: (text) => text,
  }),
  /** StorageClass of the disks of sandboxes. */
  storageClass: flag({
    name: 'storage-class',
    default: '',
    group: 'kubernetes',
    help: 'storage class of disks; else the default of the cluster',
    parse: (text) => text,
  }),
  /** RuntimeClass of the Pods of sandboxes. */
  runtimeClass: flag({
    name: 'runtime-class',
    default: '',
    group: 'kubernetes',
    help: 'runtime class of Pods, such as one with virtual machines',
    parse: (text) => text,
  }),
  /** Extended resource that counts as a GPU. */
  gpuResource: flag({
    name: 'gpu-resource',
    default: 'nvidia.com/gpu',
    group: 'kubernetes',
    help: 'resource of the device plugin that gives Pods their GPUs',
    parse: (text) => text,
  }),
  /** Networks that the service connects to agents from, where it is no Pod of the cluster. */
  agentClients: flag({
    name: 'agent-clients',
    default: 'none',
    group: 'kubernetes',
    help: 'networks that the service connects from when it is not a Pod with app.kubernetes.io/name=sandhaven, or none',
    parse: (text, { flag }) => parseNetworks(flag, text),
  }),
  /** Networks of the cluster that sandboxes may not reach. */
  clusterNetworks: flag({
    name: 'cluster-networks',
    default: 'none',
    group: 'kubernetes',
    help: 'public networks of Pods, Services and nodes that sandboxes may not reach; they never reach private ones',
    parse: (text, { flag }) => parseNetworks(flag, text),
  }),
};
