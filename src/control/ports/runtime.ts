/** Machines on a host, and the images that they are made from. */
import type { Duplex } from 'node:stream';
import type { ArchiveRecord, Resources } from '../../model/sandbox.ts';
import type { CallOptions, PullOptions } from './common.ts';

/** Everything a machine is made from. Two applications of equal specs at one generation are one. */
export interface MachineSpec {
  id: string;
  imageDigest: string;
  resources: Resources;
}

/** What this host holds of one sandbox, whether or not the store knows it. */
export interface Observed {
  id: string;
  /** The generation of the machine whose PID 1 lives; null when none runs. */
  runningGeneration: number | null;
  hasDisk: boolean;
  hasArchive: boolean;
}

export interface SandboxUsage {
  /** Of its running machine; null when none runs. */
  memoryBytes: number | null;
  /** What its disk takes of the host's; null when it has none, as an archived one. */
  diskBytes: number | null;
}

export interface RuntimeCapabilities {
  archive: boolean;
  liveResize: boolean;
  diskGrowth: boolean;
  network: boolean;
}

export interface Capacity {
  freeMemoryBytes: number;
  freeDiskBytes: number;
  /** Below these, nothing new is started. */
  reserveMemoryBytes: number;
  reserveDiskBytes: number;
  freeSlots: number;
  /** On this host, and those of them that no sandbox holds. */
  gpus: number;
  freeGpus: number;
}

/**
 * Machines on a host. Every method is idempotent and may be called again after a crash at any point of an
 * earlier call; what a crash left half-made is finished or removed by the next call for that sandbox.
 * Errors: `resource_exhausted` (slots, memory, disk), `unavailable` (the engine fails), never a bare Error
 * that a caller would see.
 */
export interface Runtime {
  readonly capabilities: RuntimeCapabilities;
  /**
   * Fences helpers of an earlier boot, then makes ready (cgroups, network, slots). Called once, before
   * anything else.
   */
  init(): Promise<void>;
  capacity(): Promise<Capacity>;
  /** The disk is made when there is none, the machine started; resolves when the agent's socket listens. */
  start(spec: MachineSpec, generation: number, options?: CallOptions): Promise<void>;
  /** SIGTERM to PID 1, the grace, kill; resolves when nothing of the machine is left and the disk is free. */
  stop(id: string, graceMs: number): Promise<void>;
  /** cpu and memory of a running machine. */
  resizeLive(id: string, resources: Resources): Promise<void>;
  /** Grows the disk of a machine that is not running, to exactly diskGb; a disk that large already is left. */
  growDisk(id: string, diskGb: number): Promise<void>;
  /** Writes and verifies the archive of a stopped machine's disk; the disk stays. */
  archive(id: string, options?: CallOptions): Promise<ArchiveRecord>;
  /** Frees the disk of a sandbox whose archive is verified and committed. */
  dropDisk(id: string): Promise<void>;
  /** Verifies the archive against its record and makes the disk from it anew; the archive stays. */
  restore(id: string, record: ArchiveRecord, options?: CallOptions): Promise<void>;
  dropArchive(id: string): Promise<void>;
  /** Stops, and removes every trace. */
  destroy(id: string): Promise<void>;
  observe(): Promise<Observed[]>;
  /** As `observe`, of one sandbox; null when nothing of it is here. */
  inspect(id: string): Promise<Observed | null>;
  /** What one sandbox has in use now, in whatever state it is. */
  usage(id: string): Promise<SandboxUsage>;
  /** What programs in the running machine find in their environment because of its GPUs. */
  deviceEnvironment(id: string): Record<string, string>;
  /**
   * Whose the machine is, null for nobody's: what machines share is divided by owner. Remembered until the machine ends;
   * said before each start, at a claim, and when a machine that runs is taken over.
   */
  assign(id: string, ownerId: string | null): void;
  /** Why the machine stands still although nobody stopped it, for its owner to read; null while it goes on. */
  pausedReason(id: string): string | null;
  /** A fresh byte stream to the agent of the running machine. */
  openChannel(id: string): Promise<Duplex>;
  /** Ends the service's own part (pools, forwarder); machines go on. */
  close(): Promise<void>;
}

/** What a container image says about how to run in it. */
export interface Image {
  digest: string;
  reference: string;
  /** As given in the image's config. */
  env: Record<string, string>;
  entrypoint: string[];
  workingDir: string;
  sizeBytes: number;
  /** When it was built or unpacked; milliseconds since the epoch. */
  madeAt: number;
}

/** Unpacked images, by content digest. */
export interface Images {
  /** The name as it is when it is complete. `invalid_argument`; nothing is looked up. */
  check(reference: string): string;
  /** Local at once, or pulled. `base` is the standard base image. `invalid_argument`, `not_found`, `unavailable`. */
  ensure(reference: string, options?: PullOptions): Promise<Image>;
  get(digest: string): Promise<Image | null>;
  /**
   * As `ensure`, or the image of this digest, which must be here (`unavailable`). It is not collected before `work`
   * has ended, so that a row which names it can be committed.
   */
  use<T>(
    wanted: { reference: string } | { digest: string },
    work: (image: Image) => Promise<T>,
    options?: PullOptions,
  ): Promise<T>;
  /**
   * Removes images that are neither in use nor the base image, and were not since `unusedSince`; fetched layers too
   * that have grown old, or all of them when `thoroughly`. Gives back the digests that are gone.
   */
  collect(request: {
    /** Asked once, after which what is let go counts as in use. */
    inUse(): Promise<Set<string>>;
    /** Milliseconds since the epoch. */
    unusedSince: number;
    thoroughly?: boolean;
  }): Promise<string[]>;
}
