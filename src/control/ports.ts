/**
 * What the services need of the world. `store`, `runtime` and `agent-link` implement these and never import
 * each other; each port has one conformance suite in `test/`, run by every implementation.
 */
import type { Duplex, Readable } from 'node:stream';
import type { ArchiveRecord, Language, Resources, Sandbox } from '../model/sandbox.ts';
import type { User } from '../model/user.ts';

/** Milliseconds since the epoch; logic never reads the clock itself. */
export interface Clock {
  now(): number;
}

/** One line of what happens; `context` never holds a secret, a path of the host or contents. */
export interface Log {
  info(message: string, context?: Record<string, unknown>): void;
  warn(message: string, context?: Record<string, unknown>): void;
  error(message: string, context?: Record<string, unknown>): void;
}

/** Progress of long work: a message for people, and how far it is where that is known. */
export type OnProgress = (progress: { message: string; done?: number; total?: number }) => void;

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: OnProgress;
}

// ---------------------------------------------------------------------------------------------- store

export interface SandboxFilter {
  ownerId: string;
  state?: Sandbox['state'];
  /** Only sandboxes that have all of these pairs. */
  labels?: Record<string, string>;
}

export interface Page {
  /** From 1. */
  page: number;
  pageSize: number;
}

export type SandboxPatch = Partial<Omit<Sandbox, 'id'>>;

/** The columns that deadlines depend on. */
export type Schedulable = Pick<
  Sandbox,
  | 'id'
  | 'state'
  | 'operation'
  | 'autoStopMinutes'
  | 'autoArchiveMinutes'
  | 'autoDeleteMinutes'
  | 'lastActivityAt'
  | 'stoppedAt'
>;

/**
 * Rows of sandboxes. A method has committed (durably) when its promise resolves. Env vars are encrypted at
 * rest. Sandboxes that are `creating` or have no owner are seen by `get`, `all` and `pool` only.
 */
export interface SandboxStore {
  /** Fails with `already_exists` when the owner has a sandbox of this name, one being created included. */
  insert(sandbox: Sandbox): Promise<void>;
  get(id: string): Promise<Sandbox | null>;
  /** By id or by name; only the owner's, and none that is being created. */
  find(ownerId: string, idOrName: string): Promise<Sandbox | null>;
  /** Newest first (createdAt, then id, descending). */
  list(filter: SandboxFilter, page: Page): Promise<{ sandboxes: Sandbox[]; totalCount: number }>;
  /** The owner's sandboxes by name, at most `limit`, in any state. */
  names(ownerId: string, limit: number): Promise<{ id: string; name: string }[]>;
  all(): Promise<Sandbox[]>;
  /** What time may act on: sandboxes with an owner and no operation in progress, without opening env vars. */
  schedulable(): Promise<Schedulable[]>;
  /** Sandboxes that wait in the warm pool, ready to be claimed. */
  pool(): Promise<Sandbox[]>;
  /**
   * Gives one ready pool sandbox of this image and disk size to its owner, in one transaction; null when
   * there is none. Fails with `already_exists` as `insert` does.
   */
  claim(match: { imageDigest: string; diskGb: number }, patch: SandboxPatch): Promise<Sandbox | null>;
  /** Applies the patch if the stored generation is `generation`; null when it has moved on or the row is gone. */
  update(id: string, generation: number, patch: SandboxPatch): Promise<Sandbox | null>;
  /** Whether a row of this generation was there and is now gone. */
  remove(id: string, generation: number): Promise<boolean>;
  /** Later activity times only move forward. One transaction for all. */
  touch(activity: Map<string, number>): Promise<void>;
}

/** Users and their keys. Keys are stored as SHA-256 hashes and compared in constant time. */
export interface UserStore {
  insertUser(user: User): Promise<void>;
  firstUser(): Promise<User | null>;
  addKey(userId: string, apiKey: string): Promise<void>;
  userOfKey(apiKey: string): Promise<User | null>;
}

/** Answers of calls made with an Idempotency-Key, by owner and key. */
export interface IdempotencyStore {
  /** `requestDigest` is of tool and parameters, so that another request under the same key is noticed. */
  get(ownerId: string, key: string): Promise<{ requestDigest: string; result: unknown } | null>;
  put(ownerId: string, key: string, requestDigest: string, result: unknown, now: number): Promise<void>;
  prune(olderThan: number): Promise<void>;
}

export interface Store {
  sandboxes: SandboxStore;
  users: UserStore;
  idempotency: IdempotencyStore;
  close(): Promise<void>;
}

// -------------------------------------------------------------------------------------------- runtime

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

export interface RuntimeCapabilities {
  archive: boolean;
  liveResize: boolean;
  diskGrowth: boolean;
  network: boolean;
  /** GPUs that can be handed out. */
  gpus: number;
}

export interface Capacity {
  freeMemoryBytes: number;
  freeDiskBytes: number;
  /** Below these, nothing new is started. */
  reserveMemoryBytes: number;
  reserveDiskBytes: number;
  freeSlots: number;
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
}

/** Unpacked images, by content digest. */
export interface Images {
  /** Local at once, or pulled. `base` is the standard base image. `invalid_argument`, `not_found`, `unavailable`. */
  ensure(reference: string, options?: CallOptions): Promise<Image>;
  get(digest: string): Promise<Image | null>;
}

// ----------------------------------------------------------------------------------------- agent link

export interface ExecRequest {
  argv: string[];
  /** Absolute, or relative to the sandbox root. */
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
}

export interface RunCodeRequest {
  language: Language;
  code: string;
  env: Record<string, string>;
  timeoutMs: number;
}

export interface ExecResult {
  output: string;
  stdout: string;
  stderr: string;
  exitCode: number;
  timedOut: boolean;
  truncated: boolean;
  durationMs: number;
}

/** As wire.md has it; `elements` depends on the type. */
export interface Chart {
  type: 'line' | 'scatter' | 'bar' | 'pie' | 'box' | 'composite' | 'unknown';
  title: string | null;
  x_label: string | null;
  y_label: string | null;
  x_scale: string | null;
  y_scale: string | null;
  elements: unknown[];
  /** base64 */
  png: string;
}

export interface FileEntry {
  name: string;
  type: 'file' | 'dir';
  size: number;
  link: boolean;
}

export interface FileInfo {
  path: string;
  type: 'file' | 'dir' | 'symlink' | 'other';
  size: number;
  /** The low twelve bits. */
  mode: number;
  owner: string;
  group: string;
  modifiedMs: number;
}

export interface FileSlice {
  content: Buffer;
  /** Of the whole file. */
  size: number;
  totalLines: number;
  startLine: number;
  endLine: number;
}

export interface Listing<T> {
  items: T[];
  totalCount: number;
}

/**
 * Work inside one sandbox. Paths are the sandbox's own, absolute or relative to its root; names that are not
 * UTF-8 travel as wire.md says. Whatever comes back is bounded and validated; an agent that breaks the
 * protocol gives `unavailable`. `signal` cancels the work inside too.
 */
export interface AgentLink {
  /** Checks versions, sandbox id and generation. Fails with `unavailable` when the agent does not answer. */
  hello(id: string, generation: number): Promise<void>;
  /** Starts the entrypoint in the background, with its output discarded. */
  startBackground(
    id: string,
    request: { argv: string[]; cwd: string; env: Record<string, string> },
  ): Promise<void>;
  /** Holds a connection; the promise resolves when it ends, which is when the machine is gone or unreachable. */
  watch(id: string, signal: AbortSignal): Promise<void>;

  exec(id: string, request: ExecRequest, signal?: AbortSignal): Promise<ExecResult>;
  runCode(
    id: string,
    request: RunCodeRequest,
    signal?: AbortSignal,
  ): Promise<ExecResult & { charts: Chart[] }>;

  list(
    id: string,
    query: { path: string; pattern?: string; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<FileEntry> & { path: string }>;
  find(
    id: string,
    query: { path: string; pattern: string; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<string>>;
  stat(id: string, path: string): Promise<FileInfo>;
  /** Lines from 1, inclusive; `too_large` when the selected part is larger than limits.fileContentBytes. */
  read(
    id: string,
    query: { path: string; startLine?: number; endLine?: number },
    signal?: AbortSignal,
  ): Promise<FileSlice>;
  /** Bytes `start` to `end` inclusive; the whole file when absent. `size` is of the whole file. */
  readStream(
    id: string,
    query: { path: string; start?: number; end?: number },
    signal?: AbortSignal,
  ): Promise<{ size: number; stream: Readable }>;
  /** Replaces atomically, keeping an existing file's mode unless one is given. */
  write(
    id: string,
    query: { path: string; createParents: boolean; mode?: number; content: Buffer | Readable },
    signal?: AbortSignal,
  ): Promise<{ bytesWritten: number; created: boolean }>;
  createFolder(id: string, query: { path: string; mode: number }): Promise<{ created: boolean }>;
  move(id: string, query: { source: string; destination: string }): Promise<void>;
  remove(id: string, query: { path: string; recursive: boolean }, signal?: AbortSignal): Promise<void>;
}
