/**
 * Objects of the Kubernetes API, with the fields that the service reads or writes, and their paths. Fields of answers may be
 * absent.
 */

export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  /** A number that grows with each change; compared for equality alone. */
  resourceVersion?: string;
  /** Raised by each change of the spec. */
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  creationTimestamp?: string;
  deletionTimestamp?: string;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { exitCode: number; reason?: string; message?: string };
}

/** Quantities by name, such as `{ cpu: '2', memory: '4Gi' }`. */
export type Quantities = Record<string, string>;

export interface ContainerStatus {
  name: string;
  state?: ContainerState;
  /** Sizes that hold at present. */
  resources?: { limits?: Quantities; requests?: Quantities };
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  resources?: { limits?: Quantities; requests?: Quantities };
  [field: string]: unknown;
}

export interface Pod extends KubeObject {
  spec: { nodeName?: string; containers: Container[]; [field: string]: unknown };
  status?: {
    phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    reason?: string;
    message?: string;
    podIP?: string;
    /** The newest `metadata.generation` that the kubelet has acted on; absent before Kubernetes 1.34. */
    observedGeneration?: number;
    conditions?: Condition[];
    containerStatuses?: ContainerStatus[];
  };
}

export interface Claim extends KubeObject {
  spec: {
    accessModes: string[];
    storageClassName?: string;
    resources: { requests: Quantities };
    [field: string]: unknown;
  };
  status?: { phase?: string; capacity?: Quantities; conditions?: Condition[] };
}

export interface Secret extends KubeObject {
  type?: string;
  stringData?: Record<string, string>;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export interface Node extends KubeObject {
  spec?: {
    podCIDRs?: string[];
    unschedulable?: boolean;
    taints?: { key: string; effect: string }[];
  };
  status?: {
    allocatable?: Quantities;
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
  };
}

export interface StorageClass extends KubeObject {
  allowVolumeExpansion?: boolean;
}

export interface KubeEvent extends KubeObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string;
  lastTimestamp?: string;
}

export interface List<T> {
  metadata: { resourceVersion?: string; continue?: string };
  items: T[] | null;
}

export type Namespaced = 'pods' | 'persistentvolumeclaims' | 'secrets' | 'configmaps' | 'events';

export function inNamespace(namespace: string, resource: Namespaced, name?: string, part?: string): string {
  return join(`/api/v1/namespaces/${namespace}/${resource}`, name, part);
}

export function policyPath(namespace: string, name?: string): string {
  return join(`/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, name);
}

export function metricsPath(namespace: string, pod: string): string {
  return `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods/${pod}`;
}

export const nodesPath = '/api/v1/nodes';
export const storageClassesPath = '/apis/storage.k8s.io/v1/storageclasses';
export const serviceRangesPath = '/apis/networking.k8s.io/v1/servicecidrs';
export const accessReviewsPath = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

function join(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('/');
}

/** By the suffixes of quantities, which are decimal numbers. */
const factors: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the number of cores, bytes or devices; 0 for a text that is no quantity, or for none. */
export function amountOf(quantity: string | undefined): number {
  const match = /^([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(quantity ?? '');
  const factor = factors[match?.[2] ?? '?'];
  return match && factor !== undefined ? Number(match[1]) * factor : 0;
}
