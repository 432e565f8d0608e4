/** The client. Generated from the service's catalogue by `make generate`; never edited by hand. */
import { type Call, type CallOptions, createCall, type ToolFacts } from './call.ts';
import { Connection, type SandhavenOptions } from './connection.ts';
import { Files } from './files.ts';
import { byOffset, byPage } from './pages.ts';

/** How a call can fail. */
export type ErrorCode =
  | 'invalid_argument'
  | 'ambiguous_sandbox'
  | 'unauthenticated'
  | 'authorization_required'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  | 'invalid_state'
  | 'failed_precondition'
  | 'too_large'
  | 'resource_exhausted'
  | 'timeout'
  | 'unavailable'
  | 'internal';

export interface CreateSandboxParameters {
  /** Unique name: 1-63 letters, digits, space . _ - (default: generated). */
  name?: string;
  /** What RunCode runs, fixed for good (default python). */
  language?: 'python' | 'typescript' | 'javascript';
  /** Snapshot name or ID; excludes image, ignores cpu to gpu. */
  snapshot?: string;
  /** Container image, such as debian:13; excludes snapshot (default: base). */
  image?: string;
  /** Environment variables, as strings (default: none). */
  env_vars?: Record<string, string>;
  /** Idle minutes until it stops; 0: never (from 0, default 15). */
  auto_stop_minutes?: number;
  /** vCPUs (1-16, default 2). */
  cpu?: number;
  /** Memory in GB (1-64, default 4). */
  memory_gb?: number;
  /** Disk in GB (1-200, default 20). */
  disk_gb?: number;
  /** GPUs (0-8, default 0). */
  gpu?: number;
  /** Labels, as strings (default: none). */
  labels?: Record<string, string>;
  /** Delete it when it stops (default false). */
  ephemeral?: boolean;
}

export interface CreateSandboxResult {
  id: string;
  name: string;
  state: 'started' | 'stopped' | 'archived' | 'error';
  status: 'started' | 'stopped' | 'archived' | 'error';
  operation?: string;
  state_reason?: string;
  language: 'python' | 'typescript' | 'javascript';
  snapshot: string | null;
  image: string | null;
  resources: {
    cpu: number;
    memory: number;
    disk: number;
    gpu: number;
  };
  labels: Record<string, string>;
  auto_stop_minutes: number;
  auto_archive_minutes: number;
  auto_delete_minutes: number;
  ephemeral: boolean;
  region_id: string;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  started_at: string | null;
  stopped_at: string | null;
  archived_at: string | null;
}

export interface GetSandboxParameters {
  /** Sandbox name or ID. */
  sandbox: string;
  /** Show redacted env_vars too (default false). */
  include_raw_env_vars?: boolean;
}

export interface GetSandboxResult {
  id: string;
  name: string;
  state: 'started' | 'stopped' | 'archived' | 'error';
  status: 'started' | 'stopped' | 'archived' | 'error';
  operation?: string;
  state_reason?: string;
  language: 'python' | 'typescript' | 'javascript';
  snapshot: string | null;
  image: string | null;
  resources: {
    cpu: number;
    memory: number;
    disk: number;
    gpu: number;
  };
  labels: Record<string, string>;
  auto_stop_minutes: number;
  auto_archive_minutes: number;
  auto_delete_minutes: number;
  ephemeral: boolean;
  region_id: string;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  started_at: string | null;
  stopped_at: string | null;
  archived_at: string | null;
  env_vars: Record<string, string>;
}

export interface ListSandboxesParameters {
  /** Only those in this state. */
  state?: 'started' | 'stopped' | 'archived' | 'error';
  /** Only those with all of these labels. */
  labels?: Record<string, string>;
  /** Page number (from 1, default 1). */
  page?: number;
  /** Records a page (1-100, default 20). */
  page_size?: number;
}

export interface ListSandboxesResult {
  sandboxes: CreateSandboxResult[];
  total_count: number;
  page: number;
  page_size: number;
  total_pages: number;
}

export interface StartSandboxParameters {
  /** Sandbox name or ID. */
  sandbox: string;
}

export type StartSandboxResult = CreateSandboxResult;

export interface StopSandboxParameters {
  /** Sandbox name or ID. */
  sandbox: string;
}

export interface StopSandboxResult {
  id: string;
  name: string;
  state: 'started' | 'stopped' | 'archived' | 'error';
  status: 'started' | 'stopped' | 'archived' | 'error';
  operation?: string;
  state_reason?: string;
  language: 'python' | 'typescript' | 'javascript';
  snapshot: string | null;
  image: string | null;
  resources: {
    cpu: number;
    memory: number;
    disk: number;
    gpu: number;
  };
  labels: Record<string, string>;
  auto_stop_minutes: number;
  auto_archive_minutes: number;
  auto_delete_minutes: number;
  ephemeral: boolean;
  region_id: string;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  started_at: string | null;
  stopped_at: string | null;
  archived_at: string | null;
  deleted?: boolean;
}

export interface ArchiveSandboxParameters {
  /** Sandbox name or ID. */
  sandbox: string;
}

export type ArchiveSandboxResult = CreateSandboxResult;

export interface DeleteSandboxParameters {
  /** Sandbox name or ID. */
  sandbox: string;
}

export interface DeleteSandboxResult {
  id: string;
  name: string;
  deleted: boolean;
}

export interface ConfigureSandboxAutoParameters {
  /** Sandbox name or ID. */
  sandbox: string;
  /** Idle minutes until it stops; 0: never (from 0). */
  auto_stop_minutes?: number;
  /** Stopped minutes until it is archived; 0: the maximum (0-43200). */
  auto_archive_minutes?: number;
  /** Stopped minutes until it is deleted; 0: at the stop, -1: never (from -1). */
  auto_delete_minutes?: number;
}

export type ConfigureSandboxAutoResult = StopSandboxResult;

export interface ResizeSandboxParameters {
  /** Sandbox name or ID. */
  sandbox: string;
  /** vCPUs (1-16). */
  cpu?: number;
  /** Memory in GB (1-64). */
  memory_gb?: number;
  /** Disk in GB (1-200). */
  disk_gb?: number;
}

export type ResizeSandboxResult = CreateSandboxResult;

export interface SetSandboxLabelsParameters {
  /** Sandbox name or ID. */
  sandbox: string;
  /** All labels, as strings; at most 64. */
  labels: Record<string, string>;
}

export type SetSandboxLabelsResult = CreateSandboxResult;

export type ListRegionsParameters = Record<string, never>;

export interface ListRegionsResult {
  regions: {
    id: string;
    name: string;
    location: {
      country: string;
      city: string;
    };
  }[];
}

export type WhoAmIParameters = Record<string, never>;

export interface WhoAmIResult {
  user_id: string;
  name: string;
  email: string;
}

export interface ListFilesParameters {
  /** Directory (default: /workspace). */
  path?: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Only names that match this glob, such as *.py. */
  pattern?: string;
  /** Most to return (1-200, default 50). */
  max_items?: number;
  /** How many to skip (from 0, default 0). */
  offset?: number;
}

export interface ListFilesResult {
  path: string;
  files: {
    name: string;
    type: 'file' | 'dir';
    size: number;
    link: boolean;
  }[];
  total_count: number;
  has_more: boolean;
  offset: number;
}

export interface FindFilesParameters {
  /** Glob on the file name, not the path, such as *.test.ts. */
  pattern: string;
  /** Directory to search (default: /workspace). */
  path?: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Most to return (1-200, default 50). */
  max_items?: number;
  /** How many to skip (from 0, default 0). */
  offset?: number;
}

export interface FindFilesResult {
  paths: string[];
  total_count: number;
  has_more: boolean;
  offset: number;
}

export interface GetFileInfoParameters {
  /** File or directory, absolute or from /workspace. */
  path: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
}

export interface GetFileInfoResult {
  path: string;
  type: 'file' | 'dir' | 'symlink' | 'other';
  size: number;
  permissions: string;
  mode: string;
  owner: string;
  group: string;
  modified_time: string;
}

export interface ReadFileParameters {
  /** File, absolute or from /workspace. */
  path: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** First line (from 1). */
  start_line?: number;
  /** Last line, included (from 1). */
  end_line?: number;
}

export interface ReadFileResult {
  path: string;
  content: string;
  encoding: 'utf-8' | 'base64';
  size: number;
  total_lines: number;
  start_line: number;
  end_line: number;
}

export interface WriteFileParameters {
  /** File, absolute or from /workspace. */
  path: string;
  /** All of the new content. */
  content: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Make missing parent folders (default true). */
  create_parents?: boolean;
  /** Of content; base64 for binary (default utf-8). */
  encoding?: 'utf-8' | 'base64';
}

export interface WriteFileResult {
  path: string;
  bytes_written: number;
  created: boolean;
}

export interface CreateFolderParameters {
  /** Directory, absolute or from /workspace. */
  path: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Unix permissions, 3 or 4 octal digits (default '755'). */
  mode?: string;
}

export interface CreateFolderResult {
  path: string;
  created: boolean;
  mode: string;
}

export interface MoveFileParameters {
  /** File or directory, absolute or from /workspace. */
  source: string;
  /** New path, its last name included, absolute or from /workspace. */
  destination: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
}

export interface MoveFileResult {
  source: string;
  destination: string;
}

export interface DeleteFileParameters {
  /** File or directory, absolute or from /workspace. */
  path: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Delete a directory with all in it (default false). */
  recursive?: boolean;
}

export interface DeleteFileResult {
  path: string;
  deleted: boolean;
}

export interface RunCodeParameters {
  /** Source code. */
  code: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Seconds until it is killed (1-300, default 30). */
  timeout_seconds?: number;
}

export interface RunCodeResult {
  output: string;
  stdout: string;
  stderr: string;
  exit_code: number;
  timed_out: boolean;
  truncated: boolean;
  duration_ms: number;
  charts: {
    type: 'line' | 'scatter' | 'bar' | 'pie' | 'box' | 'composite' | 'unknown';
    title: string | null;
    x_label: string | null;
    y_label: string | null;
    x_scale: string | null;
    y_scale: string | null;
    elements: unknown[];
    png: string;
  }[];
}

export interface RunCommandParameters {
  /** Shell command; pipes, && and several lines work. */
  command: string;
  /** Name or ID (default: your only one). */
  sandbox?: string;
  /** Directory to run in (default: /workspace). */
  cwd?: string;
  /** More environment variables, as strings (default: none). */
  env?: Record<string, string>;
  /** Seconds until it is killed (1-600, default 60). */
  timeout_seconds?: number;
}

export interface RunCommandResult {
  output: string;
  stdout: string;
  stderr: string;
  exit_code: number;
  timed_out: boolean;
  truncated: boolean;
  duration_ms: number;
}

const facts = {
  createSandbox: { name: 'Sandbox.CreateSandbox', repeatable: false, long: true, idempotencyKey: true },
  getSandbox: { name: 'Sandbox.GetSandbox', repeatable: true, long: false, idempotencyKey: false },
  listSandboxes: { name: 'Sandbox.ListSandboxes', repeatable: true, long: false, idempotencyKey: false },
  startSandbox: { name: 'Sandbox.StartSandbox', repeatable: true, long: true, idempotencyKey: false },
  stopSandbox: { name: 'Sandbox.StopSandbox', repeatable: true, long: true, idempotencyKey: false },
  archiveSandbox: { name: 'Sandbox.ArchiveSandbox', repeatable: false, long: true, idempotencyKey: false },
  deleteSandbox: { name: 'Sandbox.DeleteSandbox', repeatable: false, long: false, idempotencyKey: false },
  configureSandboxAuto: { name: 'Sandbox.ConfigureSandboxAuto', repeatable: true, long: false, idempotencyKey: false },
  resizeSandbox: { name: 'Sandbox.ResizeSandbox', repeatable: true, long: false, idempotencyKey: false },
  setSandboxLabels: { name: 'Sandbox.SetSandboxLabels', repeatable: true, long: false, idempotencyKey: false },
  listRegions: { name: 'Sandbox.ListRegions', repeatable: true, long: false, idempotencyKey: false },
  whoAmI: { name: 'Sandbox.WhoAmI', repeatable: true, long: false, idempotencyKey: false },
  listFiles: { name: 'Sandbox.ListFiles', repeatable: true, long: false, idempotencyKey: false },
  findFiles: { name: 'Sandbox.FindFiles', repeatable: true, long: false, idempotencyKey: false },
  getFileInfo: { name: 'Sandbox.GetFileInfo', repeatable: true, long: false, idempotencyKey: false },
  readFile: { name: 'Sandbox.ReadFile', repeatable: true, long: false, idempotencyKey: false },
  writeFile: { name: 'Sandbox.WriteFile', repeatable: true, long: false, idempotencyKey: false },
  createFolder: { name: 'Sandbox.CreateFolder', repeatable: true, long: false, idempotencyKey: false },
  moveFile: { name: 'Sandbox.MoveFile', repeatable: false, long: false, idempotencyKey: false },
  deleteFile: { name: 'Sandbox.DeleteFile', repeatable: false, long: false, idempotencyKey: false },
  runCode: { name: 'Sandbox.RunCode', repeatable: false, long: true, idempotencyKey: false },
  runCommand: { name: 'Sandbox.RunCommand', repeatable: false, long: true, idempotencyKey: false },
} satisfies Record<string, ToolFacts>;

/** Calls the tools of one service. It holds no connection open, so nothing has to be closed. */
export class Sandhaven {
  /** The bytes of files, streamed. */
  readonly files: Files;
  /** Each item of lists that have pages: `for await (const … of client.iterate.listFiles())`. */
  readonly iterate: Iterate;
  readonly #call: Call;

  constructor(options: SandhavenOptions = {}) {
    const connection = new Connection(options);
    this.#call = createCall(connection);
    this.files = new Files(connection);
    this.iterate = new Iterate(this);
  }

  /**
   * Creates an isolated Linux machine, ready at once. Without snapshot and image it has Python 3.13, Node
   * 24, git and build tools. Returns the sandbox. already_exists: take another name. resource_exhausted:
   * delete or stop one.
   */
  createSandbox(parameters: CreateSandboxParameters = {}, options?: CallOptions): Promise<CreateSandboxResult> {
    return this.#call(facts.createSandbox, parameters, options);
  }

  /**
   * Shows one sandbox: state, resources, labels, automatic stop, archive and delete, times, and env_vars
   * with secret-looking values redacted. Does not count as activity.
   */
  getSandbox(parameters: GetSandboxParameters, options?: CallOptions): Promise<GetSandboxResult> {
    return this.#call(facts.getSandbox, parameters, options);
  }

  /** Lists your sandboxes, newest first, by state or labels where given. A page past the end is empty. */
  listSandboxes(parameters: ListSandboxesParameters = {}, options?: CallOptions): Promise<ListSandboxesResult> {
    return this.#call(facts.listSandboxes, parameters, options);
  }

  /**
   * Starts a stopped or archived (slower) sandbox, or retries one in error. Files are as they were,
   * processes are gone. No change when started. Returns the sandbox.
   */
  startSandbox(parameters: StartSandboxParameters, options?: CallOptions): Promise<StartSandboxResult> {
    return this.#call(facts.startSandbox, parameters, options);
  }

  /**
   * Stops a sandbox: processes end, files stay. One that is ephemeral or has auto_delete_minutes 0 is
   * deleted with it (deleted: true). No change when stopped. Returns the sandbox.
   */
  stopSandbox(parameters: StopSandboxParameters, options?: CallOptions): Promise<StopSandboxResult> {
    return this.#call(facts.stopSandbox, parameters, options);
  }

  /**
   * Compresses a stopped sandbox to save storage; StartSandbox brings it back. invalid_state: call
   * StopSandbox first. Returns the sandbox.
   */
  archiveSandbox(parameters: ArchiveSandboxParameters, options?: CallOptions): Promise<ArchiveSandboxResult> {
    return this.#call(facts.archiveSandbox, parameters, options);
  }

  /** Deletes a sandbox and everything in it, for good, from any state. */
  deleteSandbox(parameters: DeleteSandboxParameters, options?: CallOptions): Promise<DeleteSandboxResult> {
    return this.#call(facts.deleteSandbox, parameters, options);
  }

  /**
   * Changes after how long a sandbox stops, is archived and is deleted by itself. Give at least one; the
   * others stay. auto_delete_minutes 0 deletes one that is stopped already (deleted: true). Returns the
   * sandbox.
   */
  configureSandboxAuto(parameters: ConfigureSandboxAutoParameters, options?: CallOptions): Promise<ConfigureSandboxAutoResult> {
    return this.#call(facts.configureSandboxAuto, parameters, options);
  }

  /**
   * Changes vCPUs, memory or disk: at least one, all or nothing. Started: cpu and memory_gb can only
   * grow. disk_gb never shrinks and needs a stopped sandbox (invalid_state: StopSandbox first). Returns
   * the sandbox.
   */
  resizeSandbox(parameters: ResizeSandboxParameters, options?: CallOptions): Promise<ResizeSandboxResult> {
    return this.#call(facts.resizeSandbox, parameters, options);
  }

  /**
   * Replaces all labels of a sandbox; {} removes them. To add one, give the present ones too (GetSandbox
   * shows them). Returns the sandbox.
   */
  setSandboxLabels(parameters: SetSandboxLabelsParameters, options?: CallOptions): Promise<SetSandboxLabelsResult> {
    return this.#call(facts.setSandboxLabels, parameters, options);
  }

  /** Lists the regions that sandboxes run in: id, name, location (country, city). */
  listRegions(parameters: ListRegionsParameters = {}, options?: CallOptions): Promise<ListRegionsResult> {
    return this.#call(facts.listRegions, parameters, options);
  }

  /** Shows the owner of this API key: user_id, name and email. */
  whoAmI(parameters: WhoAmIParameters = {}, options?: CallOptions): Promise<WhoAmIResult> {
    return this.#call(facts.whoAmI, parameters, options);
  }

  /**
   * Lists one directory, sorted by name, hidden files included: name, type (file or dir), size, link.
   * has_more: call again with a larger offset. To search below, use FindFiles.
   */
  listFiles(parameters: ListFilesParameters = {}, options?: CallOptions): Promise<ListFilesResult> {
    return this.#call(facts.listFiles, parameters, options);
  }

  /**
   * Finds files and directories by name below a directory, hidden ones included, links not followed.
   * Returns sorted paths. has_more: call again with a larger offset. To search contents, use
   * SearchContent.
   */
  findFiles(parameters: FindFilesParameters, options?: CallOptions): Promise<FindFilesResult> {
    return this.#call(facts.findFiles, parameters, options);
  }

  /**
   * Shows type (file, dir, symlink, other), size, permissions, owner and modified_time of one path. A
   * link is shown itself, not its target.
   */
  getFileInfo(parameters: GetFileInfoParameters, options?: CallOptions): Promise<GetFileInfoResult> {
    return this.#call(facts.getFileInfo, parameters, options);
  }

  /**
   * Reads a file or a range of its lines. Returns content, size and total_lines; what is not UTF-8 comes
   * as base64 (encoding says so). too_large (over 16 MiB): read it in ranges.
   */
  readFile(parameters: ReadFileParameters, options?: CallOptions): Promise<ReadFileResult> {
    return this.#call(facts.readFile, parameters, options);
  }

  /**
   * Creates a file or replaces it atomically, keeping its mode. To change a part, ReplaceInFiles is
   * shorter. not_found with create_parents false: the folder is missing. Over 16 MiB: PUT
   * /v1/sandboxes/{sandbox}/files.
   */
  writeFile(parameters: WriteFileParameters, options?: CallOptions): Promise<WriteFileResult> {
    return this.#call(facts.writeFile, parameters, options);
  }

  /**
   * Creates a directory and its missing parents. One that exists stays as it is (created: false).
   * already_exists: another kind of file is in the way.
   */
  createFolder(parameters: CreateFolderParameters, options?: CallOptions): Promise<CreateFolderResult> {
    return this.#call(facts.createFolder, parameters, options);
  }

  /**
   * Moves or renames a file or directory and overwrites nothing. already_exists: destination is there.
   * not_found: source or the destination folder is missing.
   */
  moveFile(parameters: MoveFileParameters, options?: CallOptions): Promise<MoveFileResult> {
    return this.#call(facts.moveFile, parameters, options);
  }

  /**
   * Deletes a file, a link (never its target) or an empty directory. failed_precondition: the directory
   * is not empty; set recursive to delete all in it.
   */
  deleteFile(parameters: DeleteFileParameters, options?: CallOptions): Promise<DeleteFileResult> {
    return this.#call(facts.deleteFile, parameters, options);
  }

  /**
   * Runs code in the sandbox's language, without a shell. Each call starts afresh: no variables or
   * imports are kept, files are. Returns output, exit_code and charts (every matplotlib figure); print
   * what you want to see. A failing program is a result, not an error. invalid_state: StartSandbox first.
   */
  runCode(parameters: RunCodeParameters, options?: CallOptions): Promise<RunCodeResult> {
    return this.#call(facts.runCode, parameters, options);
  }

  /**
   * Runs bash -c as root, with empty standard input, and waits for its end; background children live on.
   * Returns output (stdout and stderr as they came), both apart, and exit_code. A failing command is a
   * result, not an error. invalid_state: StartSandbox first.
   */
  runCommand(parameters: RunCommandParameters, options?: CallOptions): Promise<RunCommandResult> {
    return this.#call(facts.runCommand, parameters, options);
  }
}

/** Walks over lists that have pages, and fetches each when its first item is wanted. */
export class Iterate {
  readonly #client: Sandhaven;

  constructor(client: Sandhaven) {
    this.#client = client;
  }

  /** Each of the sandboxes of `listSandboxes`, from page on where it is given. */
  listSandboxes(parameters: ListSandboxesParameters = {}, options?: CallOptions) {
    return byPage(
      parameters.page,
      (page) => this.#client.listSandboxes({ ...parameters, page }, options),
      (page) => page.sandboxes,
    );
  }

  /** Each of the files of `listFiles`, from offset on where it is given. */
  listFiles(parameters: ListFilesParameters = {}, options?: CallOptions) {
    return byOffset(
      parameters.offset,
      (offset) => this.#client.listFiles({ ...parameters, offset }, options),
      (page) => page.files,
    );
  }

  /** Each of the paths of `findFiles`, from offset on where it is given. */
  findFiles(parameters: FindFilesParameters, options?: CallOptions) {
    return byOffset(
      parameters.offset,
      (offset) => this.#client.findFiles({ ...parameters, offset }, options),
      (page) => page.paths,
    );
  }
}
