/** Settings of the runtime, and the interface to the part of the service that speaks with agents. */
import type { Duplex, Readable } from 'node:stream';

export interface KubernetesSettings {
  /** Six of [0-9a-z]; the value of a label of all that belongs to this service. */
  instanceId: string;
  namespace: string;
  /** Image that holds `sandhaven-agent` in its root; mounted read-only into every Pod. */
  agentImage: string;
  /** Name of the StorageClass of disks; null for the cluster's default. */
  storageClass: string | null;
  /** Name of the RuntimeClass of Pods; null for the nodes' default. */
  runtimeClass: string | null;
  /** Extended resource of a device plugin, such as nvidia.com/gpu. */
  gpuResource: string;
  network: NetworkSettings;
}

export interface NetworkSettings {
  /** Namespace of the service's Pods; null for that of the sandboxes. */
  serviceNamespace: string | null;
  /** Networks that the service connects from, beside Pods of that namespace with its label. */
  clients: string[];
  /** Networks that sandboxes may not reach, beside all private ones and those that the API shows. */
  refused: string[];
}

/** Certificates of agents, and connections to them. */
export interface AgentDoor {
  /** Identity of the service, the one client that agents serve. */
  service: string;
  /** Returns the files of the folder of an agent: tls.key, tls.crt, ca.crt. Another key each time. */
  credentialsFor(id: string, generation: number): Record<string, string>;
  /**
   * Opens a stream to the agent of this sandbox and generation, and of no other. Tries again for a few seconds while
   * `starting` holds. Rejects with `unavailable`.
   */
  connect(address: string, id: string, generation: number, starting: () => boolean): Promise<Duplex>;
}

/** Content of a disk, as its carrier gives and takes it: a tar archive. `open` opens a channel to the carrier. */
export interface CarrierLink {
  /** Destroying the stream ends the work in the carrier. @param leaveOut Names in the root that are no content. */
  pack(
    open: () => Promise<Duplex>,
    id: string,
    leaveOut: readonly string[],
    signal: AbortSignal,
  ): Promise<Readable>;
  /** The disk must be empty but for those names. Resolves once all of the content is on the disk for good. */
  unpack(
    open: () => Promise<Duplex>,
    id: string,
    leaveOut: readonly string[],
    archive: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** Image of a Pod. */
export interface PlacedImage {
  /** registry/repository@sha256:… */
  reference: string;
  /** Secrets with the credentials of its registry, and of the agent image's. */
  pullSecrets: string[];
}

/** TCP port that agents listen on. */
export const AGENT_PORT = 7_421;
