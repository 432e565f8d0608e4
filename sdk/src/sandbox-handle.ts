/// <reference lib="esnext.disposable" preserve="true" />
/** One sandbox, whose calls need no name of it. Generated from the service's catalogue by `make generate`; never edited by hand. */
import { SandhavenError } from './errors.ts';
import type { Bytes, Download, DownloadOptions, Upload, UploadOptions } from './files.ts';
import type { CallOptions } from './call.ts';
import type * as types from './generated.ts';
import { apart, type Besides } from './handle-options.ts';
import type { Preview } from './preview.ts';

/** Made by `client.create()` and `client.sandbox()`. `await using` deletes it at the end of its block. */
export class SandboxHandle {
  /** ID, or the name or ID that it was made with. */
  readonly id: string;
  readonly files: SandboxFiles;
  readonly code: SandboxCode;
  readonly sessions: SandboxSessions;
  readonly git: SandboxGit;
  readonly #client: types.Sandhaven;
  readonly #sandbox: string;

  constructor(client: types.Sandhaven, id: string) {
    this.id = id;
    this.#client = client;
    this.#sandbox = id;
    this.files = new SandboxFiles(client, id);
    this.code = new SandboxCode(client, id);
    this.sessions = new SandboxSessions(client, id);
    this.git = new SandboxGit(client, id);
  }

  /** A port of it, to send requests to: `await box.preview(8000).fetch('/')`. */
  preview(port: number): Preview {
    return this.#client.preview(this.#sandbox, port);
  }

  /** Deletes it; one that is gone is no error. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.delete();
    } catch (error) {
      if (!(error instanceof SandhavenError) || error.code !== 'not_found') throw error;
    }
  }

  /**
   * Shows one sandbox: state, resources, labels, automatic stop, archive and delete, times, usage
   * (memory_bytes and disk_bytes in use now), secrets and env_vars with secret-looking values redacted.
   */
  info(besides: Besides<types.GetSandboxParameters, 'sandbox'> = {}): Promise<types.GetSandboxResult> {
    const [more, options] = apart<Omit<types.GetSandboxParameters, 'sandbox'>>(besides);
    return this.#client.getSandbox({ ...more, sandbox: this.#sandbox }, options);
  }

  /** Starts a stopped or archived (slower) sandbox, or retries one in error. */
  start(options: CallOptions = {}): Promise<types.StartSandboxResult> {
    return this.#client.startSandbox({ sandbox: this.#sandbox }, options);
  }

  /** Stops a sandbox: processes end, files stay. */
  stop(options: CallOptions = {}): Promise<types.StopSandboxResult> {
    return this.#client.stopSandbox({ sandbox: this.#sandbox }, options);
  }

  /** Compresses a stopped sandbox to save storage; StartSandbox brings it back. */
  archive(options: CallOptions = {}): Promise<types.ArchiveSandboxResult> {
    return this.#client.archiveSandbox({ sandbox: this.#sandbox }, options);
  }

  /** Deletes a sandbox and everything in it, for good, from any state. */
  delete(options: CallOptions = {}): Promise<types.DeleteSandboxResult> {
    return this.#client.deleteSandbox({ sandbox: this.#sandbox }, options);
  }

  /** Changes after how long a sandbox stops, is archived and deleted by itself. */
  configureAuto(besides: Besides<types.ConfigureSandboxAutoParameters, 'sandbox'> = {}): Promise<types.ConfigureSandboxAutoResult> {
    const [more, options] = apart<Omit<types.ConfigureSandboxAutoParameters, 'sandbox'>>(besides);
    return this.#client.configureSandboxAuto({ ...more, sandbox: this.#sandbox }, options);
  }

  /** Changes vCPUs, memory or disk: at least one, all or nothing. */
  resize(besides: Besides<types.ResizeSandboxParameters, 'sandbox'> = {}): Promise<types.ResizeSandboxResult> {
    const [more, options] = apart<Omit<types.ResizeSandboxParameters, 'sandbox'>>(besides);
    return this.#client.resizeSandbox({ ...more, sandbox: this.#sandbox }, options);
  }

  /** Replaces all labels of a sandbox; {} removes them. */
  setLabels(labels: types.SetSandboxLabelsParameters['labels'], options: CallOptions = {}): Promise<types.SetSandboxLabelsResult> {
    return this.#client.setSandboxLabels({ sandbox: this.#sandbox, labels }, options);
  }

  /**
   * Makes a token to log in to a started sandbox by ssh, scp, sftp, rsync or an editor, and returns the
   * command.
   */
  createSshAccess(besides: Besides<types.CreateSshAccessParameters, 'sandbox'> = {}): Promise<types.CreateSshAccessResult> {
    const [more, options] = apart<Omit<types.CreateSshAccessParameters, 'sandbox'>>(besides);
    return this.#client.createSshAccess({ ...more, sandbox: this.#sandbox }, options);
  }

  /**
   * Lists the TCP ports that programs in a started sandbox listen on, with name, pid and command of the
   * process.
   */
  ports(options: CallOptions = {}): Promise<types.ListPortsResult> {
    return this.#client.listPorts({ sandbox: this.#sandbox }, options);
  }

  /** Gives the URL of what a started sandbox serves over HTTP on a port. */
  previewUrl(port: types.GetPortPreviewUrlParameters['port'], besides: Besides<types.GetPortPreviewUrlParameters, 'sandbox' | 'port'> = {}): Promise<types.GetPortPreviewUrlResult> {
    const [more, options] = apart<Omit<types.GetPortPreviewUrlParameters, 'sandbox' | 'port'>>(besides);
    return this.#client.getPortPreviewUrl({ ...more, sandbox: this.#sandbox, port }, options);
  }

  /** Runs bash -c as root, with empty standard input, and waits for its end; background children live on. */
  run(command: types.RunCommandParameters['command'], besides: Besides<types.RunCommandParameters, 'sandbox' | 'command'> = {}): Promise<types.RunCommandResult> {
    const [more, options] = apart<Omit<types.RunCommandParameters, 'sandbox' | 'command'>>(besides);
    return this.#client.runCommand({ ...more, sandbox: this.#sandbox, command }, options);
  }
}

/** The files of one sandbox. */
export class SandboxFiles {
  readonly #client: types.Sandhaven;
  readonly #sandbox: string;

  constructor(client: types.Sandhaven, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Creates or replaces a file, once all bytes have arrived. */
  upload(path: string, content: Bytes, options?: UploadOptions): Promise<Upload> {
    return this.#client.files.upload(this.#sandbox, path, content, options);
  }

  /** The timeout ends with the headers; the signal can still end the body. */
  download(path: string, options?: DownloadOptions): Promise<Download> {
    return this.#client.files.download(this.#sandbox, path, options);
  }

  /** Lists one directory, sorted by name, hidden files included: name, type (file or dir), size, link. */
  list(besides: Besides<types.ListFilesParameters, 'sandbox'> = {}): Promise<types.ListFilesResult> {
    const [more, options] = apart<Omit<types.ListFilesParameters, 'sandbox'>>(besides);
    return this.#client.listFiles({ ...more, sandbox: this.#sandbox }, options);
  }

  /** Finds files and directories by name below a directory, hidden ones included, links not followed. */
  find(pattern: types.FindFilesParameters['pattern'], besides: Besides<types.FindFilesParameters, 'sandbox' | 'pattern'> = {}): Promise<types.FindFilesResult> {
    const [more, options] = apart<Omit<types.FindFilesParameters, 'sandbox' | 'pattern'>>(besides);
    return this.#client.findFiles({ ...more, sandbox: this.#sandbox, pattern }, options);
  }

  /** Shows type (file, dir, symlink, other), size, permissions, owner and modified_time of one path. */
  info(path: types.GetFileInfoParameters['path'], options: CallOptions = {}): Promise<types.GetFileInfoResult> {
    return this.#client.getFileInfo({ sandbox: this.#sandbox, path }, options);
  }

  /** Reads a file or a range of its lines. */
  read(path: types.ReadFileParameters['path'], besides: Besides<types.ReadFileParameters, 'sandbox' | 'path'> = {}): Promise<types.ReadFileResult> {
    const [more, options] = apart<Omit<types.ReadFileParameters, 'sandbox' | 'path'>>(besides);
    return this.#client.readFile({ ...more, sandbox: this.#sandbox, path }, options);
  }

  /** Creates a file or replaces it atomically, keeping its mode. */
  write(path: types.WriteFileParameters['path'], content: types.WriteFileParameters['content'], besides: Besides<types.WriteFileParameters, 'sandbox' | 'path' | 'content'> = {}): Promise<types.WriteFileResult> {
    const [more, options] = apart<Omit<types.WriteFileParameters, 'sandbox' | 'path' | 'content'>>(besides);
    return this.#client.writeFile({ ...more, sandbox: this.#sandbox, path, content }, options);
  }

  /** Creates a directory and its missing parents. */
  createFolder(path: types.CreateFolderParameters['path'], besides: Besides<types.CreateFolderParameters, 'sandbox' | 'path'> = {}): Promise<types.CreateFolderResult> {
    const [more, options] = apart<Omit<types.CreateFolderParameters, 'sandbox' | 'path'>>(besides);
    return this.#client.createFolder({ ...more, sandbox: this.#sandbox, path }, options);
  }

  /** Moves or renames a file or directory and overwrites nothing: already_exists. */
  move(source: types.MoveFileParameters['source'], destination: types.MoveFileParameters['destination'], options: CallOptions = {}): Promise<types.MoveFileResult> {
    return this.#client.moveFile({ sandbox: this.#sandbox, source, destination }, options);
  }

  /** Deletes a file, a link (never its target) or an empty directory. */
  delete(path: types.DeleteFileParameters['path'], besides: Besides<types.DeleteFileParameters, 'sandbox' | 'path'> = {}): Promise<types.DeleteFileResult> {
    const [more, options] = apart<Omit<types.DeleteFileParameters, 'sandbox' | 'path'>>(besides);
    return this.#client.deleteFile({ ...more, sandbox: this.#sandbox, path }, options);
  }

  /** Finds lines in files as grep -rE does, hidden files included, binary ones skipped. */
  search(query: types.SearchContentParameters['query'], besides: Besides<types.SearchContentParameters, 'sandbox' | 'query'> = {}): Promise<types.SearchContentResult> {
    const [more, options] = apart<Omit<types.SearchContentParameters, 'sandbox' | 'query'>>(besides);
    return this.#client.searchContent({ ...more, sandbox: this.#sandbox, query }, options);
  }

  /** Replaces every match, line by line as sed -E s/…/…/g, each file atomically. */
  replace(pattern: types.ReplaceInFilesParameters['pattern'], replacement: types.ReplaceInFilesParameters['replacement'], files: types.ReplaceInFilesParameters['files'], besides: Besides<types.ReplaceInFilesParameters, 'sandbox' | 'pattern' | 'replacement' | 'files'> = {}): Promise<types.ReplaceInFilesResult> {
    const [more, options] = apart<Omit<types.ReplaceInFilesParameters, 'sandbox' | 'pattern' | 'replacement' | 'files'>>(besides);
    return this.#client.replaceInFiles({ ...more, sandbox: this.#sandbox, pattern, replacement, files }, options);
  }
}

/** Code that runs in one sandbox. */
export class SandboxCode {
  readonly #client: types.Sandhaven;
  readonly #sandbox: string;

  constructor(client: types.Sandhaven, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Runs code in the sandbox's language, without a shell. */
  run(code: types.RunCodeParameters['code'], besides: Besides<types.RunCodeParameters, 'sandbox' | 'code'> = {}): Promise<types.RunCodeResult> {
    const [more, options] = apart<Omit<types.RunCodeParameters, 'sandbox' | 'code'>>(besides);
    return this.#client.runCode({ ...more, sandbox: this.#sandbox, code }, options);
  }
}

/** The sessions of one sandbox. */
export class SandboxSessions {
  readonly #client: types.Sandhaven;
  readonly #sandbox: string;

  constructor(client: types.Sandhaven, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /**
   * Opens a bash that stays: directory, variables and functions persist between its commands, which may
   * run in the background and take input.
   */
  create(besides: Besides<types.CreateSessionParameters, 'sandbox'> = {}): Promise<types.CreateSessionResult> {
    const [more, options] = apart<Omit<types.CreateSessionParameters, 'sandbox'>>(besides);
    return this.#client.createSession({ ...more, sandbox: this.#sandbox }, options);
  }

  /**
   * Lists the active sessions of a sandbox, each with its newest commands first: command_id, command,
   * status and, once ended, exit_code.
   */
  list(options: CallOptions = {}): Promise<types.ListSessionsResult> {
    return this.#client.listSessions({ sandbox: this.#sandbox }, options);
  }

  /** Runs a command in a session, after those before it. */
  run(sessionId: types.RunSessionCommandParameters['session_id'], command: types.RunSessionCommandParameters['command'], besides: Besides<types.RunSessionCommandParameters, 'sandbox' | 'session_id' | 'command'> = {}): Promise<types.RunSessionCommandResult> {
    const [more, options] = apart<Omit<types.RunSessionCommandParameters, 'sandbox' | 'session_id' | 'command'>>(besides);
    return this.#client.runSessionCommand({ ...more, sandbox: this.#sandbox, session_id: sessionId, command }, options);
  }

  /**
   * Returns what a session command has printed so far: output (as it came), stdout, stderr, status and,
   * once ended, exit_code.
   */
  logs(sessionId: types.GetSessionCommandLogsParameters['session_id'], commandId: types.GetSessionCommandLogsParameters['command_id'], besides: Besides<types.GetSessionCommandLogsParameters, 'sandbox' | 'session_id' | 'command_id'> = {}): Promise<types.GetSessionCommandLogsResult> {
    const [more, options] = apart<Omit<types.GetSessionCommandLogsParameters, 'sandbox' | 'session_id' | 'command_id'>>(besides);
    return this.#client.getSessionCommandLogs({ ...more, sandbox: this.#sandbox, session_id: sessionId, command_id: commandId }, options);
  }

  /** Types a line into a running session command, as at a terminal that does not echo: answers, passwords. */
  send(sessionId: types.SendSessionInputParameters['session_id'], commandId: types.SendSessionInputParameters['command_id'], input: types.SendSessionInputParameters['input'], besides: Besides<types.SendSessionInputParameters, 'sandbox' | 'session_id' | 'command_id' | 'input'> = {}): Promise<types.SendSessionInputResult> {
    const [more, options] = apart<Omit<types.SendSessionInputParameters, 'sandbox' | 'session_id' | 'command_id' | 'input'>>(besides);
    return this.#client.sendSessionInput({ ...more, sandbox: this.#sandbox, session_id: sessionId, command_id: commandId, input }, options);
  }
}

/** Git in one sandbox. */
export class SandboxGit {
  readonly #client: types.Sandhaven;
  readonly #sandbox: string;

  constructor(client: types.Sandhaven, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Clones a Git repository into a new or empty folder. */
  clone(url: types.GitCloneParameters['url'], besides: Besides<types.GitCloneParameters, 'sandbox' | 'url'> = {}): Promise<types.GitCloneResult> {
    const [more, options] = apart<Omit<types.GitCloneParameters, 'sandbox' | 'url'>>(besides);
    return this.#client.gitClone({ ...more, sandbox: this.#sandbox, url }, options);
  }

  /**
   * Shows what changed in a Git repository: branch (null when detached), staged, modified, untracked and
   * conflicted paths from its root, commits ahead of and behind upstream (null without one).
   */
  status(besides: Besides<types.GitStatusParameters, 'sandbox'> = {}): Promise<types.GitStatusResult> {
    const [more, options] = apart<Omit<types.GitStatusParameters, 'sandbox'>>(besides);
    return this.#client.gitStatus({ ...more, sandbox: this.#sandbox }, options);
  }

  /** Stages files or folders for the next commit, deletions included; ["."] stages everything. */
  add(files: types.GitAddParameters['files'], besides: Besides<types.GitAddParameters, 'sandbox' | 'files'> = {}): Promise<types.GitAddResult> {
    const [more, options] = apart<Omit<types.GitAddParameters, 'sandbox' | 'files'>>(besides);
    return this.#client.gitAdd({ ...more, sandbox: this.#sandbox, files }, options);
  }

  /** Commits what is staged (GitAdd), also to conclude a merge. */
  commit(message: types.GitCommitParameters['message'], besides: Besides<types.GitCommitParameters, 'sandbox' | 'message'> = {}): Promise<types.GitCommitResult> {
    const [more, options] = apart<Omit<types.GitCommitParameters, 'sandbox' | 'message'>>(besides);
    return this.#client.gitCommit({ ...more, sandbox: this.#sandbox, message }, options);
  }

  /**
   * Lists the local branches with name and current, and current, the one checked out (null when detached;
   * unborn: no commit yet).
   */
  branches(besides: Besides<types.GitBranchesParameters, 'sandbox'> = {}): Promise<types.GitBranchesResult> {
    const [more, options] = apart<Omit<types.GitBranchesParameters, 'sandbox'>>(besides);
    return this.#client.gitBranches({ ...more, sandbox: this.#sandbox }, options);
  }

  /**
   * Switches to a branch (also one that only the remote has), tag or commit, or with create_new_branch
   * makes branch ref at start_point and switches to it.
   */
  checkout(ref: types.GitCheckoutParameters['ref'], besides: Besides<types.GitCheckoutParameters, 'sandbox' | 'ref'> = {}): Promise<types.GitCheckoutResult> {
    const [more, options] = apart<Omit<types.GitCheckoutParameters, 'sandbox' | 'ref'>>(besides);
    return this.#client.gitCheckout({ ...more, sandbox: this.#sandbox, ref }, options);
  }

  /** Makes a branch at start_point and switches to it, with local changes kept. */
  createBranch(branch: types.GitCreateBranchParameters['branch'], besides: Besides<types.GitCreateBranchParameters, 'sandbox' | 'branch'> = {}): Promise<types.GitCreateBranchResult> {
    const [more, options] = apart<Omit<types.GitCreateBranchParameters, 'sandbox' | 'branch'>>(besides);
    return this.#client.gitCreateBranch({ ...more, sandbox: this.#sandbox, branch }, options);
  }

  /** Deletes a local branch. */
  deleteBranch(branch: types.GitDeleteBranchParameters['branch'], besides: Besides<types.GitDeleteBranchParameters, 'sandbox' | 'branch'> = {}): Promise<types.GitDeleteBranchResult> {
    const [more, options] = apart<Omit<types.GitDeleteBranchParameters, 'sandbox' | 'branch'>>(besides);
    return this.#client.gitDeleteBranch({ ...more, sandbox: this.#sandbox, branch }, options);
  }

  /** Lists commits, newest first: hash, author, email, date (UTC) and message. */
  log(besides: Besides<types.GitLogParameters, 'sandbox'> = {}): Promise<types.GitLogResult> {
    const [more, options] = apart<Omit<types.GitLogParameters, 'sandbox'>>(besides);
    return this.#client.gitLog({ ...more, sandbox: this.#sandbox }, options);
  }

  /**
   * Fetches from the remote (URL, or path in the sandbox) and merges into the branch that is checked out,
   * with the credentials given at clone or configured.
   */
  pull(besides: Besides<types.GitPullParameters, 'sandbox'> = {}): Promise<types.GitPullResult> {
    const [more, options] = apart<Omit<types.GitPullParameters, 'sandbox'>>(besides);
    return this.#client.gitPull({ ...more, sandbox: this.#sandbox }, options);
  }

  /**
   * Pushes a branch to that of the same name at its remote (URL, or path in the sandbox), with the
   * credentials given at clone or configured; it then tracks that one.
   */
  push(besides: Besides<types.GitPushParameters, 'sandbox'> = {}): Promise<types.GitPushResult> {
    const [more, options] = apart<Omit<types.GitPushParameters, 'sandbox'>>(besides);
    return this.#client.gitPush({ ...more, sandbox: this.#sandbox }, options);
  }
}
