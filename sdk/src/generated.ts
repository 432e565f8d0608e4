/** The client. Generated from the service's catalogue by `make generate`; never edited by hand. */
import { Access } from './access.ts';
import { Administration } from './administration.ts';
import { type Call, type CallOptions, createCall, type ToolFacts } from './call.ts';
import { changesOf, type FollowOptions, type SandboxChange } from './changes.ts';
import { Connection, type SandhavenOptions } from './connection.ts';
import { Files } from './files.ts';
import { byOffset, byPage } from './pages.ts';
import { Preview } from './preview.ts';
import { Processes } from './processes.ts';
import { SandboxHandle } from './sandbox-handle.ts';
import { Sessions } from './sessions.ts';
import { Snapshots } from './snapshots.ts';

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
  /** Linux user of calls (default: root). */
  user?: string;
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
  /** Rules like https://api.example.com; profiles packages, git, llm. */
  network?: 'open' | 'none' | {
    allow?: string[];
    profiles?: string[];
  };
  /** Secrets it may use, by name. */
  secrets?: string[];
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
  /** Linux user of calls that name none; absent for root. */
  user?: string;
  region_id: string;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  started_at: string | null;
  stopped_at: string | null;
  archived_at: string | null;
  /** CreateSandbox and GetSandbox only. */
  network?: {
    mode: 'open' | 'none' | 'rules';
    profiles: string[];
    allow: string[];
  };
  /** CreateSandbox and GetSandbox only. */
  secrets?: {
    name: string;
    variable: string;
  }[];
}

export interface GetSandboxParameters {
  /** Name or ID. */
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
  /** Linux user of calls that name none; absent for root. */
  user?: string;
  region_id: string;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  started_at: string | null;
  stopped_at: string | null;
  archived_at: string | null;
  /** CreateSandbox and GetSandbox only. */
  network?: {
    mode: 'open' | 'none' | 'rules';
    profiles: string[];
    allow: string[];
  };
  /** CreateSandbox and GetSandbox only. */
  secrets?: {
    name: string;
    variable: string;
  }[];
  usage: {
    memory_bytes: number | null;
    disk_bytes: number | null;
  };
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
  /** Name or ID. */
  sandbox: string;
}

export type StartSandboxResult = CreateSandboxResult;

export interface StopSandboxParameters {
  /** Name or ID. */
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
  /** Linux user of calls that name none; absent for root. */
  user?: string;
  region_id: string;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  started_at: string | null;
  stopped_at: string | null;
  archived_at: string | null;
  /** CreateSandbox and GetSandbox only. */
  network?: {
    mode: 'open' | 'none' | 'rules';
    profiles: string[];
    allow: string[];
  };
  /** CreateSandbox and GetSandbox only. */
  secrets?: {
    name: string;
    variable: string;
  }[];
  deleted?: boolean;
}

export interface ArchiveSandboxParameters {
  /** Name or ID. */
  sandbox: string;
}

export type ArchiveSandboxResult = CreateSandboxResult;

export interface DeleteSandboxParameters {
  /** Name or ID. */
  sandbox: string;
}

export interface DeleteSandboxResult {
  id: string;
  name: string;
  deleted: boolean;
}

export interface ConfigureSandboxAutoParameters {
  /** Name or ID. */
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
  /** Name or ID. */
  sandbox: string;
  /** vCPUs (1-16). */
  cpu?: number;
  /** Memory in GB (1-64). */
  memory_gb?: number;
  /** New total disk in GB (1-200). */
  disk_gb?: number;
}

export type ResizeSandboxResult = CreateSandboxResult;

export interface SetSandboxLabelsParameters {
  /** Name or ID. */
  sandbox: string;
  /** All labels, as strings; at most 64. */
  labels: Record<string, string>;
}

export type SetSandboxLabelsResult = CreateSandboxResult;

export interface CreateSnapshotParameters {
  /** Unique name: 1-63 letters, digits, space . _ -. */
  name: string;
  /** Container image, such as debian:13. */
  image: string;
  /** Program and arguments, started with every sandbox; the image's own is not. */
  entrypoint?: string[];
  /** Linux user of calls (default: root). */
  user?: string;
  /** Sizes; memory and disk in GB (default 2, 4, 20, 0). */
  resources?: {
    cpu?: number;
    memory?: number;
    disk?: number;
    gpu?: number;
  };
  /** Region (default: the closest). */
  region_id?: string;
}

export interface CreateSnapshotResult {
  id: string;
  name: string;
  state: 'pending' | 'pulling' | 'active' | 'error';
  state_reason?: string;
  image: string;
  entrypoint: string[] | null;
  resources: {
    cpu: number;
    memory: number;
    disk: number;
    gpu: number;
  };
  region_id: string;
  size_bytes: number | null;
  created_at: string;
  updated_at: string;
  /** Of sandboxes created from it that ask for none; absent for the usual one. */
  network?: {
    mode: 'open' | 'none' | 'rules';
    profiles: string[];
    allow: string[];
  };
  /** Linux user of sandboxes created from it; absent for root. */
  user?: string;
}

export interface GetSnapshotParameters {
  /** Snapshot name or ID. */
  snapshot: string;
}

export type GetSnapshotResult = CreateSnapshotResult;

export interface ListSnapshotsParameters {
  /** Page number (from 1, default 1). */
  page?: number;
  /** Records a page (1-100, default 20). */
  page_size?: number;
}

export interface ListSnapshotsResult {
  snapshots: CreateSnapshotResult[];
  total_count: number;
  page: number;
  page_size: number;
  total_pages: number;
}

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
  /** Team that the call acts for; of an admin who reads inside (as_admin), any owner. */
  team?: {
    id: string;
    name: string;
    role: string;
    as_admin?: boolean;
  };
}

export interface CreateSshAccessParameters {
  /** Name or ID. */
  sandbox: string;
  /** Minutes, 0 = never expires (from 0, default 60). */
  expires_in_minutes?: number;
}

export interface CreateSshAccessResult {
  host: string;
  port: number;
  username: string;
  access_token: string;
  host_key: string;
  expires_at: string | null;
  command: string;
}

export interface ListPortsParameters {
  /** Name or ID, if several. */
  sandbox?: string;
}

export interface ListPortsResult {
  ports: {
    port: number;
    state: 'listening';
    name: string;
    pid: number | null;
    /** At most 200 characters. */
    command: string | null;
  }[];
}

export interface GetPortPreviewUrlParameters {
  /** Name or ID. */
  sandbox: string;
  /** Port inside the sandbox (1-65535). */
  port: number;
  /** For browsers: the URL itself is the key (default false). */
  signed?: boolean;
  /** Life of a signed URL (1-315360000, default 3600). */
  expires_in_seconds?: number;
}

export interface GetPortPreviewUrlResult {
  url: string;
  port: number;
  signed: boolean;
  token: string | null;
  header: string | null;
  expires_at: string | null;
}

export interface ListFilesParameters {
  /** Directory (default: /workspace). */
  path?: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
  /** Make missing parent folders (default true). */
  create_parents?: boolean;
  /** Of content; base64 for binary (default utf-8). */
  encoding?: 'utf-8' | 'base64';
  /** Safe from a power cut once answered. */
  durable?: boolean;
}

export interface WriteFileResult {
  path: string;
  bytes_written: number;
  created: boolean;
}

export interface CreateFolderParameters {
  /** Directory, absolute or from /workspace. */
  path: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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
  /** New path, with its last name, absolute or from /workspace. */
  destination: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
}

export interface MoveFileResult {
  source: string;
  destination: string;
}

export interface DeleteFileParameters {
  /** File or directory, absolute or from /workspace. */
  path: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
  /** Delete a directory with all in it (default false). */
  recursive?: boolean;
}

export interface DeleteFileResult {
  path: string;
  deleted: boolean;
}

export interface SearchContentParameters {
  /** Extended regular expression (grep -E, and \d \w \s \b \1); foo(bar) needs literal. */
  query: string;
  /** Directory or file (default: /workspace). */
  path?: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
  /** Only files whose name matches this glob, such as *.py. */
  file_pattern?: string;
  /** Lines around each match (0-5, default 0). */
  context_lines?: number;
  /** Plain text, no expression. */
  literal?: boolean;
  /** Lines, only paths, or counts of lines (default matches). */
  output?: 'matches' | 'files' | 'counts';
  /** Most to return (1-200, default 50). */
  max_items?: number;
  /** How many to skip (from 0, default 0). */
  offset?: number;
}

export interface SearchContentResult {
  files: {
    path: string;
    /** Of output matches. */
    matches?: {
      line: number;
      text: string;
      /** Lines around it; only with context_lines above 0. */
      before?: string[];
      /** Lines around it; only with context_lines above 0. */
      after?: string[];
    }[];
    /** Matching lines: up to 50 of output matches, all of counts, left out of files. */
    match_count?: number;
    /** There are more matches. Of output matches. */
    capped?: boolean;
  }[];
  /** Matching files, those on other pages included. */
  total_count: number;
  has_more: boolean;
  offset: number;
  literal: boolean;
  /** What the query would find if it were plain text. */
  note?: string;
}

export interface ReplaceInFilesParameters {
  /** Extended regular expression within a line (\b \d \w too); foo(bar) needs literal. */
  pattern: string;
  /** New text; \1-\9 and & are what matched, \& a plain &, \n a newline. */
  replacement: string;
  /** Paths or globs, from /workspace or absolute; ** is any depth: src/**\/*.ts. */
  files: string[];
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
  /** Plain text, no expression. */
  literal?: boolean;
  /** Count, and change nothing. */
  dry_run?: boolean;
  /** Globs of names or paths to skip: node_modules. */
  exclude?: string[];
}

export interface ReplaceInFilesResult {
  results: {
    path: string;
    status: 'success' | 'error';
    replacements: number;
    error?: string;
  }[];
  /** 0 of a dry run. */
  files_modified: number;
  /** Files of globs without a match, which are not listed. */
  files_unchanged: number;
  /** Made, or of a dry run to be made. */
  total_replacements: number;
  dry_run?: boolean;
  literal: boolean;
  /** What the pattern would find if it were plain text. */
  note?: string;
}

export interface RunCodeParameters {
  /** Source code. */
  code: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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
  /** Name or ID, if several. */
  sandbox?: string;
  /** Linux user, from its home. */
  user?: string;
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

export interface CreateSessionParameters {
  /** Name or ID, if several. */
  sandbox?: string;
  /** Name of your choice (default: generated). */
  session_id?: string;
  /** Linux user, from its home. */
  user?: string;
}

export interface CreateSessionResult {
  session_id: string;
  status: 'active';
  created_at: string;
}

export interface ListSessionsParameters {
  /** Name or ID, if several. */
  sandbox?: string;
}

export interface ListSessionsResult {
  sessions: {
    session_id: string;
    status: 'active';
    created_at: string;
    recent_commands: {
      command_id: string;
      command: string;
      status: 'queued' | 'running' | 'completed';
      exit_code?: number;
    }[];
  }[];
}

export interface RunSessionCommandParameters {
  /** From CreateSession. */
  session_id: string;
  /** Shell command line; several lines work. exit ends the session. */
  command: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Do not wait for its end (default false). */
  async_exec?: boolean;
}

export interface RunSessionCommandResult {
  session_id: string;
  command_id: string;
  status: 'queued' | 'running' | 'completed';
  exit_code?: number;
  output: string;
}

export interface GetSessionCommandLogsParameters {
  /** From CreateSession. */
  session_id: string;
  /** From RunSessionCommand. */
  command_id: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Bytes of output to skip (from 0). */
  offset?: number;
  /** Seconds to wait for its end or, with offset, for more output (0-60, default 0). */
  wait_seconds?: number;
}

export interface GetSessionCommandLogsResult {
  session_id: string;
  command_id: string;
  status: 'queued' | 'running' | 'completed';
  exit_code?: number;
  output: string;
  stdout: string;
  stderr: string;
  truncated: boolean;
  next_offset: number | null;
}

export interface SendSessionInputParameters {
  /** From CreateSession. */
  session_id: string;
  /** From RunSessionCommand. */
  command_id: string;
  /** The line, without its newline. */
  input: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Seconds to wait for what it prints next (0-60, default 0). */
  wait_seconds?: number;
}

export interface SendSessionInputResult {
  session_id: string;
  command_id: string;
  sent: true;
  status?: 'queued' | 'running' | 'completed';
  exit_code?: number;
  output?: string;
  next_offset?: number;
}

export interface GitCloneParameters {
  /** URL (http, https, ssh, git, file) without password, or path. */
  url: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Destination folder (default: name from the URL, in /workspace). */
  path?: string;
  /** Branch or tag (default: the default branch). */
  branch?: string;
  /** Commit hash to check out, detached (default: head of the branch). */
  commit_id?: string;
  /** User name at the remote. */
  username?: string;
  /** Password or access token. */
  password?: string;
}

export interface GitCloneResult {
  path: string;
  branch: string | null;
  sha: string | null;
}

export interface GitStatusParameters {
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
}

export interface GitStatusResult {
  branch: string | null;
  staged: string[];
  modified: string[];
  untracked: string[];
  conflicted: string[];
  ahead: number;
  behind: number;
  upstream: string | null;
  unborn: boolean;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
  truncated: boolean;
}

export interface GitAddParameters {
  /** Paths to stage. */
  files: string[];
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
}

export interface GitAddResult {
  added: string[];
  added_count: number;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
  truncated: boolean;
}

export interface GitCommitParameters {
  /** The whole message, kept as it is. */
  message: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Author (default: from git config in the sandbox). */
  author_name?: string;
  /** Address of the author (default: the same). */
  author_email?: string;
}

export interface GitCommitResult {
  sha: string;
  branch: string | null;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
}

export interface GitBranchesParameters {
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
}

export interface GitBranchesResult {
  branches: {
    name: string;
    current: boolean;
  }[];
  current: string | null;
  unborn: boolean;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
  truncated: boolean;
}

export interface GitCheckoutParameters {
  /** Branch, tag or commit; the new branch with create_new_branch. */
  ref: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Make the branch ref (default false). */
  create_new_branch?: boolean;
  /** Where a new branch starts (default: HEAD). */
  start_point?: string;
}

export interface GitCheckoutResult {
  ref: string;
  branch: string | null;
  created: boolean;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
}

export interface GitCreateBranchParameters {
  /** Name of the new branch. */
  branch: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Branch, tag or commit to start at (default: HEAD). */
  start_point?: string;
}

export interface GitCreateBranchResult {
  branch: string;
  switched: boolean;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
}

export interface GitDeleteBranchParameters {
  /** Local branch. */
  branch: string;
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Delete it even if it is not merged (default false). */
  force?: boolean;
}

export interface GitDeleteBranchResult {
  branch: string;
  deleted: boolean;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
}

export interface GitLogParameters {
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Most commits (from 1, default 20). */
  max_count?: number;
  /** Branch, tag or commit to start from (default: current). */
  branch?: string;
}

export interface GitLogResult {
  commits: {
    hash: string;
    author: string;
    email: string;
    date: string;
    message: string;
  }[];
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
  truncated: boolean;
}

export interface GitPullParameters {
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Branch of the remote (default: the tracked one). */
  branch?: string;
}

export interface GitPullResult {
  branch: string;
  updated: boolean;
  sha: string;
  remote: string;
  url: string;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
}

export interface GitPushParameters {
  /** Name or ID, if several. */
  sandbox?: string;
  /** Repository (/workspace, or the only one in it). */
  path?: string;
  /** Local branch (default: the current one). */
  branch?: string;
  /** Replace what the remote has (default false). */
  force?: boolean;
}

export interface GitPushResult {
  branch: string;
  remote: string;
  url: string;
  pushed: boolean;
  /** The repository in /workspace that was found, when path was left out. */
  repository?: string;
}

export type DiscoverDatabasesParameters = Record<string, never>;

export interface DiscoverDatabasesResult {
  result: {
    name: string;
    size_on_disk: number;
    empty: boolean;
  }[];
}

export interface DiscoverCollectionsParameters {
  /** Database. */
  database_name: string;
}

export interface DiscoverCollectionsResult {
  result: {
    name: string;
    type: 'collection' | 'view' | 'timeseries';
    document_count: number | null;
    indexes: {
      name: string;
      key: Record<string, number | string>;
      unique: boolean;
    }[];
  }[];
}

export interface GetCollectionSchemaParameters {
  /** Database. */
  database_name: string;
  /** Collection or view. */
  collection_name: string;
  /** Documents to sample (1-100000, default 1000). */
  sample_size?: number;
}

export interface GetCollectionSchemaResult {
  database_name: string;
  collection_name: string;
  sampled: number;
  sample_method: 'all' | 'random' | 'first';
  document_count: number | null;
  fields: {
    path: string;
    probability: number;
  }[];
  indexes: {
    name: string;
    unique: boolean;
  }[];
  notes?: string[];
}

export interface FindDocumentsParameters {
  /** Database. */
  database_name: string;
  /** Collection or view. */
  collection_name: string;
  /** Filter as JSON text (default: all documents). */
  filter_dict?: string;
  /** JSON text, 1 includes and 0 excludes a field (default: all). */
  projection?: string;
  /** JSON texts such as {"field": "age", "direction": -1} (default: none). */
  sort?: string[];
  /** Documents to skip (from 0, default 0). */
  skip?: number;
  /** Most documents (1-10000, default 1000). */
  limit?: number;
  /** Most bytes of documents (from 1024, default 16777216). */
  max_bytes?: number;
  /** Started sandbox to save all results in, as JSON lines and without limits; none are returned. */
  save_to_sandbox?: string;
  /** New file in it, beneath /workspace. */
  save_to_path?: string;
}

export interface FindDocumentsResult {
  result: string[];
  returned: number;
  has_more: boolean;
  next?: {
    filter_dict?: string;
    skip?: number;
  };
  saved?: {
    sandbox: string;
    path: string;
    count: number;
    size_bytes: number;
    fields: string[];
  };
  notes?: string[];
}

export interface CountDocumentsParameters {
  /** Database. */
  database_name: string;
  /** Collection or view. */
  collection_name: string;
  /** Filter as JSON text (default: all documents). */
  filter_dict?: string;
}

export interface CountDocumentsResult {
  result: number;
  notes?: string[];
}

export interface AggregateDocumentsParameters {
  /** Database. */
  database_name: string;
  /** Collection or view. */
  collection_name: string;
  /** Stages as JSON texts such as {"$match": {"age": {"$gte": 18}}}. */
  pipeline: string[];
  /** Most documents (1-10000, default 1000). */
  limit?: number;
  /** Most bytes of documents (from 1024, default 16777216). */
  max_bytes?: number;
  /** Started sandbox to save all results in, as JSON lines and without limits; none are returned. */
  save_to_sandbox?: string;
  /** New file in it, beneath /workspace. */
  save_to_path?: string;
}

export type AggregateDocumentsResult = FindDocumentsResult;

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
  createSnapshot: { name: 'Sandbox.CreateSnapshot', repeatable: false, long: false, idempotencyKey: true },
  getSnapshot: { name: 'Sandbox.GetSnapshot', repeatable: true, long: false, idempotencyKey: false },
  listSnapshots: { name: 'Sandbox.ListSnapshots', repeatable: true, long: false, idempotencyKey: false },
  listRegions: { name: 'Sandbox.ListRegions', repeatable: true, long: false, idempotencyKey: false },
  whoAmI: { name: 'Sandbox.WhoAmI', repeatable: true, long: false, idempotencyKey: false },
  createSshAccess: { name: 'Sandbox.CreateSshAccess', repeatable: false, long: false, idempotencyKey: false },
  listPorts: { name: 'Sandbox.ListPorts', repeatable: true, long: false, idempotencyKey: false },
  getPortPreviewUrl: { name: 'Sandbox.GetPortPreviewUrl', repeatable: true, long: false, idempotencyKey: false },
  listFiles: { name: 'Sandbox.ListFiles', repeatable: true, long: false, idempotencyKey: false },
  findFiles: { name: 'Sandbox.FindFiles', repeatable: true, long: false, idempotencyKey: false },
  getFileInfo: { name: 'Sandbox.GetFileInfo', repeatable: true, long: false, idempotencyKey: false },
  readFile: { name: 'Sandbox.ReadFile', repeatable: true, long: false, idempotencyKey: false },
  writeFile: { name: 'Sandbox.WriteFile', repeatable: true, long: false, idempotencyKey: false },
  createFolder: { name: 'Sandbox.CreateFolder', repeatable: true, long: false, idempotencyKey: false },
  moveFile: { name: 'Sandbox.MoveFile', repeatable: false, long: false, idempotencyKey: false },
  deleteFile: { name: 'Sandbox.DeleteFile', repeatable: false, long: false, idempotencyKey: false },
  searchContent: { name: 'Sandbox.SearchContent', repeatable: true, long: false, idempotencyKey: false },
  replaceInFiles: { name: 'Sandbox.ReplaceInFiles', repeatable: false, long: false, idempotencyKey: false },
  runCode: { name: 'Sandbox.RunCode', repeatable: false, long: true, idempotencyKey: false },
  runCommand: { name: 'Sandbox.RunCommand', repeatable: false, long: true, idempotencyKey: false },
  createSession: { name: 'Sandbox.CreateSession', repeatable: false, long: false, idempotencyKey: false },
  listSessions: { name: 'Sandbox.ListSessions', repeatable: true, long: false, idempotencyKey: false },
  runSessionCommand: { name: 'Sandbox.RunSessionCommand', repeatable: false, long: true, idempotencyKey: false },
  getSessionCommandLogs: { name: 'Sandbox.GetSessionCommandLogs', repeatable: true, long: false, idempotencyKey: false },
  sendSessionInput: { name: 'Sandbox.SendSessionInput', repeatable: false, long: false, idempotencyKey: false },
  gitClone: { name: 'Sandbox.GitClone', repeatable: false, long: true, idempotencyKey: false },
  gitStatus: { name: 'Sandbox.GitStatus', repeatable: true, long: false, idempotencyKey: false },
  gitAdd: { name: 'Sandbox.GitAdd', repeatable: true, long: false, idempotencyKey: false },
  gitCommit: { name: 'Sandbox.GitCommit', repeatable: false, long: false, idempotencyKey: false },
  gitBranches: { name: 'Sandbox.GitBranches', repeatable: true, long: false, idempotencyKey: false },
  gitCheckout: { name: 'Sandbox.GitCheckout', repeatable: true, long: false, idempotencyKey: false },
  gitCreateBranch: { name: 'Sandbox.GitCreateBranch', repeatable: false, long: false, idempotencyKey: false },
  gitDeleteBranch: { name: 'Sandbox.GitDeleteBranch', repeatable: false, long: false, idempotencyKey: false },
  gitLog: { name: 'Sandbox.GitLog', repeatable: true, long: false, idempotencyKey: false },
  gitPull: { name: 'Sandbox.GitPull', repeatable: true, long: true, idempotencyKey: false },
  gitPush: { name: 'Sandbox.GitPush', repeatable: true, long: true, idempotencyKey: false },
  discoverDatabases: { name: 'DocumentDb.DiscoverDatabases', repeatable: true, long: false, idempotencyKey: false },
  discoverCollections: { name: 'DocumentDb.DiscoverCollections', repeatable: true, long: false, idempotencyKey: false },
  getCollectionSchema: { name: 'DocumentDb.GetCollectionSchema', repeatable: true, long: false, idempotencyKey: false },
  findDocuments: { name: 'DocumentDb.FindDocuments', repeatable: true, long: true, idempotencyKey: false },
  countDocuments: { name: 'DocumentDb.CountDocuments', repeatable: true, long: false, idempotencyKey: false },
  aggregateDocuments: { name: 'DocumentDb.AggregateDocuments', repeatable: true, long: true, idempotencyKey: false },
} satisfies Record<string, ToolFacts>;

/** Calls the tools of one service. It holds no connection open, so nothing has to be closed. */
export class Sandhaven {
  /** The bytes of files, streamed, and their details. */
  readonly files: Files;
  /** SSH and preview access can be revoked. */
  readonly access: Access;
  /** Snapshots can be deleted. */
  readonly snapshots: Snapshots;
  /** Sessions can be deleted. */
  readonly sessions: Sessions;
  /** Processes that go on without their client. */
  readonly processes: Processes;
  /** Actions of the administration, by name. */
  readonly administration: Administration;
  /** Each item of lists that have pages: `for await (const … of client.iterate.listFiles())`. */
  readonly iterate: Iterate;
  readonly documentDb: DocumentDb;
  readonly #call: Call;
  readonly #connection: Connection;

  constructor(options: SandhavenOptions = {}) {
    const connection = new Connection(options);
    this.#connection = connection;
    this.#call = createCall(connection);
    this.files = new Files(connection);
    this.access = new Access(connection);
    this.snapshots = new Snapshots(connection);
    this.sessions = new Sessions(connection);
    this.processes = new Processes(connection);
    this.administration = new Administration(connection);
    this.iterate = new Iterate(this);
    this.documentDb = new DocumentDb(this.#call);
  }

  /** Creates a sandbox, as `createSandbox` does. Returns its handle: `await using box = await client.create()`. */
  async create(parameters: CreateSandboxParameters = {}, options?: CallOptions): Promise<SandboxHandle> {
    return this.sandbox((await this.createSandbox(parameters, options)).id);
  }

  /**
   * Handle of a sandbox that exists; asks for nothing.
   *
   * @param sandbox Name or ID.
   */
  sandbox(sandbox: string): SandboxHandle {
    return new SandboxHandle(this, sandbox);
  }

  /**
   * Changes of your sandboxes as they happen, until the signal ends them; connects again by itself. List at each 'refresh',
   * which is also the first.
   */
  changes(options: FollowOptions = {}): AsyncGenerator<SandboxChange, never, undefined> {
    return changesOf(this.#connection, options);
  }

  /**
   * A port of a sandbox, to send requests to: `await client.preview('demo', 8000).fetch('/')`.
   *
   * @param sandbox Name or ID.
   */
  preview(sandbox: string, port: number): Preview {
    return new Preview(() => this.getPortPreviewUrl({ sandbox, port }), this.#connection.url);
  }

  /**
   * Creates an isolated Linux machine, ready at once. Without snapshot and image it is Debian 13 with
   * Python 3.13 (numpy, pandas, matplotlib, requests, pytest), Node 24, git, curl, ripgrep and build
   * tools. already_exists: take another name. resource_exhausted: delete or stop one.
   */
  createSandbox(parameters: CreateSandboxParameters = {}, options?: CallOptions): Promise<CreateSandboxResult> {
    return this.#call(facts.createSandbox, parameters, options);
  }

  /**
   * Shows one sandbox: state, resources, labels, automatic stop, archive and delete, times, usage
   * (memory_bytes and disk_bytes in use now), secrets and env_vars with secret-looking values redacted.
   */
  getSandbox(parameters: GetSandboxParameters, options?: CallOptions): Promise<GetSandboxResult> {
    return this.#call(facts.getSandbox, parameters, options);
  }

  /** Lists your sandboxes, newest first, by state or labels where given. */
  listSandboxes(parameters: ListSandboxesParameters = {}, options?: CallOptions): Promise<ListSandboxesResult> {
    return this.#call(facts.listSandboxes, parameters, options);
  }

  /**
   * Starts a stopped or archived (slower) sandbox, or retries one in error. Files are as they were,
   * processes are gone.
   */
  startSandbox(parameters: StartSandboxParameters, options?: CallOptions): Promise<StartSandboxResult> {
    return this.#call(facts.startSandbox, parameters, options);
  }

  /**
   * Stops a sandbox: processes end, files stay. One that is ephemeral or has auto_delete_minutes 0 is
   * deleted with it (deleted: true).
   */
  stopSandbox(parameters: StopSandboxParameters, options?: CallOptions): Promise<StopSandboxResult> {
    return this.#call(facts.stopSandbox, parameters, options);
  }

  /**
   * Compresses a stopped sandbox to save storage; StartSandbox brings it back. invalid_state: call
   * StopSandbox first.
   */
  archiveSandbox(parameters: ArchiveSandboxParameters, options?: CallOptions): Promise<ArchiveSandboxResult> {
    return this.#call(facts.archiveSandbox, parameters, options);
  }

  /** Deletes a sandbox and everything in it, for good, from any state. */
  deleteSandbox(parameters: DeleteSandboxParameters, options?: CallOptions): Promise<DeleteSandboxResult> {
    return this.#call(facts.deleteSandbox, parameters, options);
  }

  /**
   * Changes after how long a sandbox stops, is archived and deleted by itself. Give at least one; the
   * others stay. Activity: calls that work in it, running foreground and session commands, SSH, previews;
   * not background processes, nor looking at it. auto_delete_minutes 0 deletes one that is stopped
   * already (deleted: true).
   */
  configureSandboxAuto(parameters: ConfigureSandboxAutoParameters, options?: CallOptions): Promise<ConfigureSandboxAutoResult> {
    return this.#call(facts.configureSandboxAuto, parameters, options);
  }

  /**
   * Changes vCPUs, memory or disk: at least one, all or nothing. Started: cpu and memory_gb can only
   * grow. disk_gb never shrinks and needs a stopped sandbox (invalid_state: StopSandbox first).
   */
  resizeSandbox(parameters: ResizeSandboxParameters, options?: CallOptions): Promise<ResizeSandboxResult> {
    return this.#call(facts.resizeSandbox, parameters, options);
  }

  /**
   * Replaces all labels of a sandbox; {} removes them. To add one, give the present ones too (GetSandbox
   * shows them).
   */
  setSandboxLabels(parameters: SetSandboxLabelsParameters, options?: CallOptions): Promise<SetSandboxLabelsResult> {
    return this.#call(facts.setSandboxLabels, parameters, options);
  }

  /**
   * Makes a named template from a container image, for CreateSandbox with `snapshot`. Answers at once
   * with state pending; call GetSnapshot until it is active (minutes for a large image) or in error.
   * already_exists: take another name; one in error is replaced.
   */
  createSnapshot(parameters: CreateSnapshotParameters, options?: CallOptions): Promise<CreateSnapshotResult> {
    return this.#call(facts.createSnapshot, parameters, options);
  }

  /**
   * Shows one snapshot: state (pending, pulling, active or error, with state_reason), image, resources,
   * entrypoint and size.
   */
  getSnapshot(parameters: GetSnapshotParameters, options?: CallOptions): Promise<GetSnapshotResult> {
    return this.#call(facts.getSnapshot, parameters, options);
  }

  /** Lists your snapshots, newest first, and last the base image as "base". */
  listSnapshots(parameters: ListSnapshotsParameters = {}, options?: CallOptions): Promise<ListSnapshotsResult> {
    return this.#call(facts.listSnapshots, parameters, options);
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
   * Makes a token to log in to a started sandbox by ssh, scp, sftp, rsync or an editor, and returns the
   * command. access_token is secret: the password of username, or the user name alone. Open connections
   * end when it expires.
   */
  createSshAccess(parameters: CreateSshAccessParameters, options?: CallOptions): Promise<CreateSshAccessResult> {
    return this.#call(facts.createSshAccess, parameters, options);
  }

  /**
   * Lists the TCP ports that programs in a started sandbox listen on, with name, pid and command of the
   * process. GetPortPreviewUrl shows a server.
   */
  listPorts(parameters: ListPortsParameters = {}, options?: CallOptions): Promise<ListPortsResult> {
    return this.#call(facts.listPorts, parameters, options);
  }

  /**
   * Gives the URL of what a started sandbox serves over HTTP on a port. Standard: send `token` in the
   * header named by `header`. signed: any browser can open it until expires_at; it is a secret. A 502
   * there: nothing listens; see ListPorts.
   */
  getPortPreviewUrl(parameters: GetPortPreviewUrlParameters, options?: CallOptions): Promise<GetPortPreviewUrlResult> {
    return this.#call(facts.getPortPreviewUrl, parameters, options);
  }

  /**
   * Lists one directory, sorted by name, hidden files included: name, type (file or dir), size, link. To
   * search below, use FindFiles.
   */
  listFiles(parameters: ListFilesParameters = {}, options?: CallOptions): Promise<ListFilesResult> {
    return this.#call(facts.listFiles, parameters, options);
  }

  /**
   * Finds files and directories by name below a directory, hidden ones included, links not followed. To
   * search contents, use SearchContent.
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
   * shorter. Over 16 MiB: PUT /v1/sandboxes/{sandbox}/files.
   */
  writeFile(parameters: WriteFileParameters, options?: CallOptions): Promise<WriteFileResult> {
    return this.#call(facts.writeFile, parameters, options);
  }

  /**
   * Creates a directory and its missing parents. One that exists stays (created: false). already_exists:
   * another kind of file is there.
   */
  createFolder(parameters: CreateFolderParameters, options?: CallOptions): Promise<CreateFolderResult> {
    return this.#call(facts.createFolder, parameters, options);
  }

  /**
   * Moves or renames a file or directory and overwrites nothing: already_exists. not_found: the source or
   * the destination folder is missing.
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
   * Finds lines in files as grep -rE does, hidden files included, binary ones skipped. Returns matching
   * files by path, each with up to 50 matches (line, text; before, after with context_lines); capped:
   * there are more. A query that is no valid expression is plain text (literal). timeout: narrow path or
   * file_pattern.
   */
  searchContent(parameters: SearchContentParameters, options?: CallOptions): Promise<SearchContentResult> {
    return this.#call(facts.searchContent, parameters, options);
  }

  /**
   * Replaces every match, line by line as sed -E s/…/…/g, each file atomically. Returns
   * total_replacements and files named by path, or with a match or error; a failed file leaves the others
   * edited. A pattern that is no valid expression is plain text (literal).
   */
  replaceInFiles(parameters: ReplaceInFilesParameters, options?: CallOptions): Promise<ReplaceInFilesResult> {
    return this.#call(facts.replaceInFiles, parameters, options);
  }

  /**
   * Runs code in the sandbox's language, without a shell. Each call starts afresh: only files are kept.
   * Returns output, exit_code and charts (every matplotlib figure); print what you want to see. A failing
   * program is a result, not an error. invalid_state: StartSandbox first.
   */
  runCode(parameters: RunCodeParameters, options?: CallOptions): Promise<RunCodeResult> {
    return this.#call(facts.runCode, parameters, options);
  }

  /**
   * Runs bash -c as root or user, with empty standard input, and waits for its end; background children
   * live on. Returns output (stdout and stderr as they came), both apart, and exit_code. A failing
   * command is a result, not an error. invalid_state: StartSandbox first.
   */
  runCommand(parameters: RunCommandParameters, options?: CallOptions): Promise<RunCommandResult> {
    return this.#call(facts.runCommand, parameters, options);
  }

  /**
   * Opens a bash that stays: directory, variables and functions persist between its commands, which may
   * run in the background and take input. Returns session_id for RunSessionCommand. For one-off commands
   * use RunCommand.
   */
  createSession(parameters: CreateSessionParameters = {}, options?: CallOptions): Promise<CreateSessionResult> {
    return this.#call(facts.createSession, parameters, options);
  }

  /**
   * Lists the active sessions of a sandbox, each with its newest commands first: command_id, command,
   * status and, once ended, exit_code.
   */
  listSessions(parameters: ListSessionsParameters = {}, options?: CallOptions): Promise<ListSessionsResult> {
    return this.#call(facts.listSessions, parameters, options);
  }

  /**
   * Runs a command in a session, after those before it. Returns output and, once ended, exit_code;
   * otherwise status queued or running: read on with GetSessionCommandLogs. async_exec: return at once
   * with status running, for servers and what asks for input. invalid_state: the session is closed.
   */
  runSessionCommand(parameters: RunSessionCommandParameters, options?: CallOptions): Promise<RunSessionCommandResult> {
    return this.#call(facts.runSessionCommand, parameters, options);
  }

  /**
   * Returns what a session command has printed so far: output (as it came), stdout, stderr, status and,
   * once ended, exit_code. To follow a running command, give next_offset as offset: output then holds
   * only what is new, stdout and stderr nothing. truncated: the middle of a long log is left out. Kept
   * while the sandbox is stopped.
   */
  getSessionCommandLogs(parameters: GetSessionCommandLogsParameters, options?: CallOptions): Promise<GetSessionCommandLogsResult> {
    return this.#call(facts.getSessionCommandLogs, parameters, options);
  }

  /**
   * Types a line into a running session command, as at a terminal that does not echo: answers, passwords.
   * A newline is appended. \u0004 is end of input, \u0003 interrupts the command and ends the session.
   * invalid_state: the command has ended or is queued.
   */
  sendSessionInput(parameters: SendSessionInputParameters, options?: CallOptions): Promise<SendSessionInputResult> {
    return this.#call(facts.sendSessionInput, parameters, options);
  }

  /**
   * Clones a Git repository into a new or empty folder. Give username and password (access token) for a
   * private one over http or https: they stay outside the sandbox and serve later pulls and pushes.
   * already_exists: choose another path. To begin a new one, run git init with RunCommand.
   */
  gitClone(parameters: GitCloneParameters, options?: CallOptions): Promise<GitCloneResult> {
    return this.#call(facts.gitClone, parameters, options);
  }

  /**
   * Shows what changed in a Git repository: branch (null when detached), staged, modified, untracked and
   * conflicted paths from its root, commits ahead of and behind upstream (null without one). For a diff,
   * run git diff with RunCommand.
   */
  gitStatus(parameters: GitStatusParameters = {}, options?: CallOptions): Promise<GitStatusResult> {
    return this.#call(facts.gitStatus, parameters, options);
  }

  /**
   * Stages files or folders for the next commit, deletions included; ["."] stages everything. Paths are
   * literal and start at the repository's root, as GitStatus names them.
   */
  gitAdd(parameters: GitAddParameters, options?: CallOptions): Promise<GitAddResult> {
    return this.#call(facts.gitAdd, parameters, options);
  }

  /**
   * Commits what is staged (GitAdd), also to conclude a merge. Give author_name and author_email unless
   * git config in the sandbox has them. failed_precondition: nothing is staged, conflicts are left, or
   * the author is not known.
   */
  gitCommit(parameters: GitCommitParameters, options?: CallOptions): Promise<GitCommitResult> {
    return this.#call(facts.gitCommit, parameters, options);
  }

  /**
   * Lists the local branches with name and current, and current, the one checked out (null when detached;
   * unborn: no commit yet). Branches of the remote become local with GitCheckout.
   */
  gitBranches(parameters: GitBranchesParameters = {}, options?: CallOptions): Promise<GitBranchesResult> {
    return this.#call(facts.gitBranches, parameters, options);
  }

  /**
   * Switches to a branch (also one that only the remote has), tag or commit, or with create_new_branch
   * makes branch ref at start_point and switches to it. failed_precondition: commit or discard local
   * changes first.
   */
  gitCheckout(parameters: GitCheckoutParameters, options?: CallOptions): Promise<GitCheckoutResult> {
    return this.#call(facts.gitCheckout, parameters, options);
  }

  /**
   * Makes a branch at start_point and switches to it, with local changes kept. already_exists: switch to
   * it with GitCheckout.
   */
  gitCreateBranch(parameters: GitCreateBranchParameters, options?: CallOptions): Promise<GitCreateBranchResult> {
    return this.#call(facts.gitCreateBranch, parameters, options);
  }

  /**
   * Deletes a local branch. failed_precondition: it is checked out (GitCheckout another), or not merged
   * (force: true loses its commits).
   */
  gitDeleteBranch(parameters: GitDeleteBranchParameters, options?: CallOptions): Promise<GitDeleteBranchResult> {
    return this.#call(facts.gitDeleteBranch, parameters, options);
  }

  /** Lists commits, newest first: hash, author, email, date (UTC) and message. */
  gitLog(parameters: GitLogParameters = {}, options?: CallOptions): Promise<GitLogResult> {
    return this.#call(facts.gitLog, parameters, options);
  }

  /**
   * Fetches from the remote (URL, or path in the sandbox) and merges into the branch that is checked out,
   * with the credentials given at clone or configured. updated: whether anything came.
   * failed_precondition: conflicts (edit the files, GitAdd, GitCommit), or local changes in the way.
   */
  gitPull(parameters: GitPullParameters = {}, options?: CallOptions): Promise<GitPullResult> {
    return this.#call(facts.gitPull, parameters, options);
  }

  /**
   * Pushes a branch to that of the same name at its remote (URL, or path in the sandbox), with the
   * credentials given at clone or configured; it then tracks that one. failed_precondition: the remote
   * has newer commits; call GitPull first.
   */
  gitPush(parameters: GitPushParameters = {}, options?: CallOptions): Promise<GitPushResult> {
    return this.#call(facts.gitPush, parameters, options);
  }
}

/** The tools of DocumentDb. */
export class DocumentDb {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Lists the databases of the connected server with their size in bytes; the first of three steps before
   * a query. Next: DiscoverCollections. unavailable: the operator has to connect a database.
   */
  discoverDatabases(parameters: DiscoverDatabasesParameters = {}, options?: CallOptions): Promise<DiscoverDatabasesResult> {
    return this.#call(facts.discoverDatabases, parameters, options);
  }

  /**
   * Lists the collections and views of a database with estimated document counts (null: unknown, as for
   * views) and indexes. Required before any tool that takes a collection_name. Next: GetCollectionSchema
   * for each collection you will use.
   */
  discoverCollections(parameters: DiscoverCollectionsParameters, options?: CallOptions): Promise<DiscoverCollectionsResult> {
    return this.#call(facts.discoverCollections, parameters, options);
  }

  /**
   * Infers the structure of a collection from a sample of its documents: fields, BSON types, how often
   * each is there, ranges, enums, patterns of strings (9 for digits), examples (empty where enum, min or
   * fields say it), and the indexes to filter by. Required before querying, for every collection of the
   * query ($lookup sources too). failed_precondition: DiscoverCollections first.
   */
  getCollectionSchema(parameters: GetCollectionSchemaParameters, options?: CallOptions): Promise<GetCollectionSchemaResult> {
    return this.#call(facts.getCollectionSchema, parameters, options);
  }

  /**
   * Returns documents as relaxed Extended JSON strings. Load the schema first; filter by indexed fields
   * with $gte, $in, $regex …; always give a projection of the fields you need and a sort (by _id if
   * unsure). Strings compare case-sensitively. has_more: go on with next. A filter runs as written; only
   * if nothing matches are strings also tried as ObjectId, date or number, which notes say. For large
   * results save into a sandbox and analyse them with RunCode. already_exists: a save never replaces a
   * file.
   */
  findDocuments(parameters: FindDocumentsParameters, options?: CallOptions): Promise<FindDocumentsResult> {
    return this.#call(facts.findDocuments, parameters, options);
  }

  /**
   * Counts the documents that match a filter, exactly. Load the schema first. A count of 0 comes with
   * notes that say which condition removed everything, where that is cheap to know.
   */
  countDocuments(parameters: CountDocumentsParameters, options?: CallOptions): Promise<CountDocumentsResult> {
    return this.#call(facts.countDocuments, parameters, options);
  }

  /**
   * Runs a read-only aggregation pipeline: $match, $group, $project, $sort, $lookup, $unwind, $facet …
   * Begin with a $match on indexed fields. Load the schema of every collection first, also of $lookup,
   * $graphLookup and $unionWith. Nothing can write or run JavaScript. For large results save into a
   * sandbox.
   */
  aggregateDocuments(parameters: AggregateDocumentsParameters, options?: CallOptions): Promise<AggregateDocumentsResult> {
    return this.#call(facts.aggregateDocuments, parameters, options);
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

  /** Each of the snapshots of `listSnapshots`, from page on where it is given. */
  listSnapshots(parameters: ListSnapshotsParameters = {}, options?: CallOptions) {
    return byPage(
      parameters.page,
      (page) => this.#client.listSnapshots({ ...parameters, page }, options),
      (page) => page.snapshots,
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

  /** Each of the files of `searchContent`, from offset on where it is given. */
  searchContent(parameters: SearchContentParameters, options?: CallOptions) {
    return byOffset(
      parameters.offset,
      (offset) => this.#client.searchContent({ ...parameters, offset }, options),
      (page) => page.files,
    );
  }
}
