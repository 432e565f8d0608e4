/** Work inside one machine, performed by its agent. */
import type { Duplex, Readable } from 'node:stream';
import type { Language } from '../../../model/sandbox.ts';
import type { AgentContexts } from './contexts.ts';
import type { AgentDetached } from './detached.ts';
import type { AgentProcesses, AgentTerminals, AsUser, LiveRequest } from './processes.ts';
import type { AgentSearch } from './search.ts';
import type { AgentSessions } from './sessions.ts';
import type { AgentWatching } from './watching.ts';

export interface ExecRequest extends AsUser {
  argv: string[];
  /** Absolute, or relative to the sandbox root. */
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  live?: LiveRequest | undefined;
}

/** Output as printed: names in it need not be UTF-8. A stream past `outputBytes` has lost its middle. */
export interface ExecBytes {
  stdout: Buffer;
  stderr: Buffer;
  exitCode: number;
  timedOut: boolean;
}

export interface RunCodeRequest extends AsUser {
  language: Language;
  code: string;
  env: Record<string, string>;
  timeoutMs: number;
  live?: LiveRequest | undefined;
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

/** A chart as in docs/contract.md; `elements` depends on the type. */
export interface Chart {
  type: 'line' | 'scatter' | 'bar' | 'pie' | 'box' | 'composite' | 'unknown';
  title: string | null;
  x_label: string | null;
  y_label: string | null;
  x_scale: string | null;
  y_scale: string | null;
  elements: unknown[];
  /** Total when `elements` holds only the first of them. */
  total_elements?: number;
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

/** All that is known of an entry itself, without following a link. */
export interface FileDetails extends FileInfo {
  uid: number;
  gid: number;
  /** Of a link. */
  target?: string | undefined;
  /** Absent where there is none. */
  metadata?: FileMetadata | undefined;
}

/** Extended attributes of the name space `user`, named without it. */
export type FileMetadata = Record<string, string>;

export interface FileUpload extends AsUser {
  path: string;
  content: Buffer | Readable;
  createParents: boolean;
  mode?: number;
  /** true: a power cut after the answer loses nothing; otherwise at most the last second's files, each wholly. */
  durable?: boolean;
  /** Folder that must contain the file, which must be new. */
  newBeneath?: string;
  /** In place of what an existing file has. */
  metadata?: FileMetadata;
  privileged?: Privileged;
}

/** true: the user works with root's access to files, and owns what is made. */
type Privileged = true;

export interface FileSlice {
  content: Buffer;
  /** Size of the whole file. */
  size: number;
  totalLines: number;
  startLine: number;
  endLine: number;
}

export interface Listing<T> {
  items: T[];
  totalCount: number;
}

export interface AgentGreeting {
  /**
   * Files that outlive a stop, where the agent sees to that: the root file system, or /workspace and /home alone, since
   * the kernel or the disk allows no more. Null where the runtime sees to it.
   */
  persistence: 'root' | 'folders' | null;
}

/**
 * Work inside one sandbox. Paths are the sandbox's own, absolute or relative to its root; names that are not UTF-8 are
 * encoded as in docs/contract.md. Results are bounded and validated; an agent that breaks the protocol gives `unavailable`.
 * `signal` cancels the work inside too.
 */
export interface AgentLink
  extends AgentProcesses,
    AgentContexts,
    AgentDetached,
    AgentSearch,
    AgentSessions,
    AgentTerminals,
    AgentTunnels,
    AgentWatching {
  /** Checks versions, sandbox id and generation. Rejects with `unavailable` when the agent does not answer. */
  hello(id: string, generation: number): Promise<AgentGreeting>;
  /** Starts the entrypoint in the background, with its output discarded. */
  startBackground(
    id: string,
    request: AsUser & { argv: string[]; cwd: string; env: Record<string, string> },
  ): Promise<void>;
  /** Makes programs inside trust servers that this certificate (PEM) has signed. May be repeated. */
  trust(id: string, certificate: string): Promise<void>;
  /** Holds a connection; resolves when it ends, because the machine is gone or unreachable. */
  watch(id: string, signal: AbortSignal): Promise<void>;

  exec(id: string, request: ExecRequest, signal?: AbortSignal): Promise<ExecResult>;
  execBytes(
    id: string,
    request: Omit<ExecRequest, 'live'> & { outputBytes: number },
    signal?: AbortSignal,
  ): Promise<ExecBytes>;
  runCode(
    id: string,
    request: RunCodeRequest,
    signal?: AbortSignal,
  ): Promise<ExecResult & { charts: Chart[] }>;

  list(
    id: string,
    query: AsUser & { path: string; pattern?: string; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<FileEntry> & { path: string }>;
  find(
    id: string,
    query: AsUser & { path: string; pattern: string; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<string>>;
  stat(id: string, query: AsUser & { path: string }): Promise<FileInfo>;
  /**
   * Describes what is below a folder, sorted by path, whose paths are below the one asked for; with depth 0 that path itself,
   * as the empty path. What has vanished meanwhile is counted and not shown. A page with long texts ends early; `nextOffset` is
   * where the next begins, and null at the end.
   */
  details(
    id: string,
    query: AsUser & { path: string; depth: number; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<FileDetails> & { nextOffset: number | null }>;
  /** Owner and group are names or numbers as text; metadata takes the place of what the file has. Follows a final link. */
  setAttributes(
    id: string,
    attributes: AsUser & {
      path: string;
      mode?: number | undefined;
      owner?: string | undefined;
      group?: string | undefined;
      metadata?: FileMetadata | undefined;
    },
  ): Promise<void>;
  /** Reads lines from 1, inclusive; `too_large` when the selected part is larger than limits.fileContentBytes. */
  read(
    id: string,
    query: AsUser & { path: string; startLine?: number; endLine?: number },
    signal?: AbortSignal,
  ): Promise<FileSlice>;
  /** Reads bytes `start` to `end` inclusive; the whole file when absent. `size` is of the whole file. */
  readStream(
    id: string,
    query: AsUser & { path: string; start?: number; end?: number },
    signal?: AbortSignal,
  ): Promise<{ size: number; stream: Readable }>;
  /**
   * Replaces atomically, and keeps an existing file's mode by default. With `newBeneath` it replaces nothing:
   * `already_exists` when the name is taken, `invalid_argument` when links lead out of that folder.
   */
  write(
    id: string,
    query: FileUpload,
    signal?: AbortSignal,
  ): Promise<{ bytesWritten: number; created: boolean }>;
  createFolder(
    id: string,
    query: AsUser & { path: string; mode: number; privileged?: Privileged },
  ): Promise<{ created: boolean }>;
  move(id: string, query: AsUser & { source: string; destination: string }): Promise<void>;
  remove(
    id: string,
    query: AsUser & { path: string; recursive: boolean },
    signal?: AbortSignal,
  ): Promise<void>;
}

/** Connections to and from a machine's own loopback. */
export interface ListeningPort {
  port: number;
  /** Name of the listening process; empty when unknown. */
  name: string;
  /** Process id inside the sandbox; null when unknown. */
  pid: number | null;
  /** Command line of the process, cut; null when unknown. */
  command: string | null;
}

export interface Listener {
  /** The port in use, when 0 was requested. */
  port: number;
  /** Resolves when the listener has ended, for any reason; accepted connections continue. */
  ended: Promise<void>;
  close(): void;
}

export interface AgentTunnels {
  /**
   * Connects to a port of the sandbox's own loopback, IPv4 or IPv6. Half-open connections stay half-open. Rejects with
   * `not_found` (resource `port`) when nothing listens there. With `host`, connects to a port of that host as the
   * sandbox itself would, under the sandbox's own rules; `not_found` (resource `host`) for an unknown name.
   */
  connectPort(id: string, port: number, signal?: AbortSignal, host?: string): Promise<Duplex>;
  /**
   * Listens inside, on 127.0.0.1 unless `everywhere`, and hands over each connection. Port 0 takes a free one. Rejects
   * with `already_exists` when the port is taken.
   */
  listenPort(
    id: string,
    request: { port: number; everywhere?: boolean },
    onConnection: (connection: Duplex) => void,
    signal?: AbortSignal,
  ): Promise<Listener>;
  /** Lists the TCP listeners inside, by port, each port once. */
  ports(id: string, signal?: AbortSignal): Promise<ListeningPort[]>;
}
