/** Machines on a host, and the images that they run. */
import type { Duplex } from 'node:stream';
import type { LearningPolicy, NetworkPolicy } from '../../model/network/policy.ts';
import type { NetworkReport } from '../../model/network/traffic.ts';
import type { ArchiveLocation, ArchiveRecord, Resources } from '../../model/sandbox.ts';
import type { SecretUse } from '../../model/secrets/use.ts';
import type { CallOptions, PullOptions } from './common.ts';
import type { NetworkTraffic } from './network.ts';

/** Inputs of a machine. Two applications of equal specs at one generation are one. */
export interface MachineSpec {
  id: string;
  imageDigest: string;
  resources: Resources;
  /** A captured disk, which a missing disk is made from; an empty one by default. */
  from?: string;
}

/** Traces of one sandbox on this host, known to the store or not. */
export interface Observed {
  id: string;
  /** The generation of the machine whose PID 1 lives; null when none runs. */
  runningGeneration: number | null;
  hasDisk: boolean;
  hasArchive: boolean;
  /** Present when the node of the machine does not answer: the machine may still run, or not. */
  unreachable?: true;
  /** Present beside it when none of several nodes answers: their cluster has lost sight of them all. */
  allUnreachable?: true;
}

export interface SandboxUsage {
  /** Processor time of its running machine since its start; null when none runs, or nobody counts it. */
  cpuMs: number | null;
  /** Memory of its running machine; null when none runs. */
  memoryBytes: number | null;
  /** Space that its disk takes on the host; null without a disk, as for an archived sandbox. */
  diskBytes: number | null;
  /** Processes that the kernel has killed in its running machine for want of memory; absent where nobody counts them. */
  oomKills?: number | null;
}

/** Sleep of machines: one that sleeps keeps its memory and uses no processor. */
export interface MachineSleep {
  /**
   * Puts a running machine to sleep, until somebody opens a channel to its agent. It counts as asleep from the call on, so a
   * channel that is opened meanwhile wakes it. Idempotent.
   * @param at The time; milliseconds since the epoch.
   * @param options `closesChannels`: those that are open end, with the reason.
   */
  begin(id: string, at: number, options?: { closesChannels?: boolean }): Promise<void>;
  /** Wakes the machine; does nothing for one that is awake. */
  wake(id: string): Promise<void>;
  /** Returns since when the machine sleeps; null for one that is awake. */
  since(id: string): number | null;
  /** Resolves once the machine is awake, at once for one that is, and at the signal. */
  awake(id: string, signal: AbortSignal): Promise<void>;
  /** Calls the listener whenever a machine has fallen asleep, or wakes. */
  onChange(listener: (id: string) => void): void;
}

/**
 * Disks captured from sandboxes: whole copies that never change, by ids of their own. A new machine's disk is made from
 * one, and neither needs the other afterwards.
 */
export interface CapturedDisks {
  /**
   * Captures the disk of a sandbox in any settled state: a running machine stands still meanwhile, an archive is unpacked.
   * Returns the bytes that the copy takes. Rejects with `resource_exhausted` without room, `unavailable` for a machine that
   * could not be frozen, or not long enough; then there is no copy.
   */
  capture(
    captureId: string,
    sandbox: { id: string; archive: ArchiveRecord | null },
    options?: CallOptions,
  ): Promise<{ sizeBytes: number }>;
  /**
   * Copies it beside the disk of a sandbox, whose machine may run, for `putBack`. Rejects like `capture`, and with `not_found`
   * when it is gone; then there is no copy.
   */
  stage(id: string, captureId: string, options?: CallOptions): Promise<void>;
  /**
   * Gives a sandbox without a running machine the captured disk in place of its own, grown to `diskGb` already: the copy that
   * `stage` has made, or else a new one.
   */
  putBack(id: string, captureId: string, options: CallOptions & { diskGb: number }): Promise<void>;
  /** Makes a captured disk of another. Rejects with `resource_exhausted` without room; then there is no copy. */
  copy(captureId: string, to: string): Promise<{ sizeBytes: number }>;
  /** A row names it from now on: without one it is collected. Before, copies and those of forks and steps are kept. */
  release(captureId: string): void;
  /** Returns the bytes that it takes; null when there is none. */
  sizeOf(captureId: string): Promise<number | null>;
  drop(captureId: string): Promise<void>;
  /** Removes the disks of snapshots that are not named, also half-made ones, and those of forks that nobody makes any more. */
  collect(named: () => Promise<Set<string>>): Promise<void>;
}

export interface RuntimeCapabilities {
  archive: boolean;
  liveResize: boolean;
  diskGrowth: boolean;
  network: boolean;
  /** false: every machine has an open network, and no other policy can be put in force. */
  networkPolicies: boolean;
  /** true: secrets can be put into requests of machines, outside of them. */
  secrets: boolean;
}

export interface Capacity {
  freeMemoryBytes: number;
  freeDiskBytes: number;
  /** Below these, nothing new starts. */
  reserveMemoryBytes: number;
  reserveDiskBytes: number;
  freeSlots: number;
  /** Of a host; absent for a cluster, whose machines are spread over nodes. */
  host?: { memoryBytes: number; diskBytes: number; usedSlots: number };
  /** GPUs of this host, and those of them that no sandbox holds. */
  gpus: number;
  freeGpus: number;
}

/**
 * Machines on a host. Every method is idempotent and may be called again after a crash at any point of an earlier call;
 * the next call for that sandbox finishes or removes half-made work.
 * Errors: `resource_exhausted` (slots, memory, disk), `unavailable` (the engine fails), never a bare Error that a
 * caller would see.
 */
export interface Runtime {
  readonly capabilities: RuntimeCapabilities;
  /** Absent where nobody counts or limits the traffic of machines. */
  readonly traffic?: NetworkTraffic;
  /** Absent where machines cannot be frozen. */
  readonly sleep?: MachineSleep;
  /** Absent where disks cannot be captured. */
  readonly captures?: CapturedDisks;
  /** Fences helpers of an earlier boot, then prepares cgroups, network and slots. Called once, before anything else. */
  init(): Promise<void>;
  capacity(): Promise<Capacity>;
  /** Creates a missing disk and starts the machine; resolves when the agent's socket listens. */
  start(spec: MachineSpec, generation: number, options?: CallOptions): Promise<void>;
  /**
   * Sends SIGTERM to PID 1, and kills after the grace period; resolves when nothing of the machine is left and the disk
   * is free.
   * @param newest Leaves a machine of a newer generation alone: a later operation has started it.
   */
  stop(id: string, graceMs: number, newest?: number): Promise<void>;
  /** Changes cpu and memory of a running machine. */
  resizeLive(id: string, resources: Resources): Promise<void>;
  /** Grows the disk of a machine that is not running, to exactly diskGb; leaves a disk that is large enough. */
  growDisk(id: string, diskGb: number): Promise<void>;
  /**
   * Writes and verifies the archive of a stopped machine's disk; the disk stays.
   * @param generation Of the operation: an older one that comes late changes nothing.
   */
  archive(id: string, generation: number, options?: CallOptions): Promise<ArchiveRecord>;
  /** Frees the disk of a sandbox whose archive is verified and committed. */
  dropDisk(id: string): Promise<void>;
  /** Verifies the archive against its record and creates the disk from it; the archive stays. */
  restore(spec: MachineSpec, generation: number, record: ArchiveRecord, options?: CallOptions): Promise<void>;
  dropArchive(id: string): Promise<void>;
  /** Stops the machine and removes every trace. */
  destroy(id: string): Promise<void>;
  observe(): Promise<Observed[]>;
  /** Like `observe`, for one sandbox; null when this host has no trace of it. */
  inspect(id: string): Promise<Observed | null>;
  /** Returns the present resource use of one sandbox, in any state. */
  usage(id: string): Promise<SandboxUsage>;
  /** Returns the name of the last process killed in the machine for want of memory; absent where nobody knows it. */
  killedLast?(id: string): Promise<string | null>;
  /** Returns the environment variables that programs in the running machine get for its GPUs. */
  deviceEnvironment(id: string): Record<string, string>;
  /**
   * Sets the machine's owner, null for none: owners share what machines share. Kept until the machine ends; called
   * before each start, at a claim, and when a running machine is adopted.
   */
  assign(id: string, ownerId: string | null): void;
  /**
   * Puts the policy of a machine in force: before its start, at a claim, live, and when a running machine is adopted.
   * Resolves once it holds for every connection, also open ones. Kept until the machine ends; a machine without one
   * reaches nothing.
   * @param secrets That requests of the machine carry from then on, in place of earlier ones; none by default.
   */
  setNetwork(
    id: string,
    policy: NetworkPolicy | LearningPolicy,
    secrets?: readonly SecretUse[],
  ): Promise<void>;
  /** Returns the certificate, in PEM, that programs in the machine have to trust where it has secrets. Null without `secrets`. */
  authority(id: string): string | null;
  /** Returns the reason for the owner why the machine is paused without a stop; null while it runs. */
  pausedReason(id: string): string | null;
  /** Opens a new byte stream to the agent of the running machine, which wakes it. */
  openChannel(id: string): Promise<Duplex>;
  /** Ends the service's own part (pools, forwarder); machines keep running. */
  close(): Promise<void>;
}

/** Decisions about the networks of machines with rules. */
export interface NetworkEvents {
  /** Calls the listener with each piece from now on, in the order of the decisions of one machine. */
  onReports(listener: (reports: NetworkReport[]) => void): void;
  /** Returns the owner of a sandbox that runs; null without one, as in the warm pool, and for one that does not run. */
  ownerOf(this: void, sandboxId: string): string | null;
}

/** Archives that lie outside the host. */
export interface RemoteArchives {
  /**
   * Removes archives of this instance that no row names, and remains of interrupted uploads, both only when they are
   * older than this. Returns the number of removed archives.
   */
  collect(request: {
    named(): Promise<ArchiveLocation[]>;
    olderThanMs: number;
    signal?: AbortSignal;
  }): Promise<number>;
}

/** A container image's configuration for its processes. */
export interface Image {
  digest: string;
  reference: string;
  /** As in the image's config. */
  env: Record<string, string>;
  entrypoint: string[];
  workingDir: string;
  sizeBytes: number;
  /** Time of its build or unpacking; milliseconds since the epoch. */
  madeAt: number;
}

/** Unpacked images, by content digest. */
export interface Images {
  /** Returns the complete form of the name. Throws `invalid_argument`; looks nothing up. */
  check(reference: string): string;
  /**
   * Returns a local image at once, or pulls it. `base` is the standard base image. `invalid_argument`, `not_found`,
   * `unavailable`.
   */
  ensure(reference: string, options?: PullOptions): Promise<Image>;
  get(digest: string): Promise<Image | null>;
  /**
   * Like `ensure`, or for the local image of this digest (`unavailable` without it). Protects the image from collection
   * until `work` has ended, so that a row which names it can be committed.
   */
  use<T>(
    wanted: { reference: string } | { digest: string },
    work: (image: Image) => Promise<T>,
    options?: PullOptions,
  ): Promise<T>;
  /**
   * Removes images, except the base image, that are not in use and were not since `unusedSince`; also old fetched
   * layers, or all of them when `thoroughly`. Returns the removed digests.
   */
  collect(request: {
    /** Called once; images released after that count as in use. */
    inUse(): Promise<Set<string>>;
    /** Milliseconds since the epoch. */
    unusedSince: number;
    thoroughly?: boolean;
  }): Promise<string[]>;
}
