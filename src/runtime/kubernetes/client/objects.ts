/** Objects of the Kubernetes API, with the fields that the service reads or writes. Fields of answers may be absent. */

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
