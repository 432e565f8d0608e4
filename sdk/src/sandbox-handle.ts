/// <reference lib="esnext.disposable" preserve="true" />
/** One sandbox, whose calls need no name of it. Generated from the service's catalogue by `make generate`; never edited by hand. */
import { SandhavenError } from './errors.ts';
import type * as files from './files.ts';
import type { CallOptions } from './call.ts';
import type { RequestOptions } from './connection.ts';
import type * as types from './generated.ts';
import { apart, type HandleOptions } from './handle-options.ts';
import type { Preview } from './preview.ts';
import { processesOf, type SandboxProcesses } from './processes.ts';
import type { DeletedSession } from './sessions.ts';

/** Made by `client.create()` and `client.sandbox()`. `await using` deletes it at the end of its block. */
export class SandboxHandle {
  /** Its ID; with `client.sandbox()`, the name or ID that was given. */
  readonly id: string;
  readonly files: SandboxFiles;
  readonly code: SandboxCode;
  readonly sessions: SandboxSessions;
  readonly git: SandboxGit;
  readonly processes: SandboxProcesses;
  readonly #client: types.Sandhaven;

  constructor(client: types.Sandhaven, id: string) {
    this.id = id;
    this.#client = client;
    this.files = new SandboxFiles(client, id);
    this.code = new SandboxCode(client, id);
    this.sessions = new SandboxSessions(client, id);
    this.git = new SandboxGit(client, id);
    this.processes = processesOf(client.processes, id);
  }

  /** A port of it, to send requests to: `await box.preview(8000).fetch('/')`. */
  preview(port: number): Preview {
    return this.#client.preview(this.id, port);
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
  info(options: HandleOptions<types.GetSandboxParameters, 'sandbox'> = {}): Promise<types.GetSandboxResult> {
    const [parameters, call] = apart<Omit<types.GetSandboxParameters, 'sandbox'>>(options);
    return this.#client.getSandbox({ ...parameters, sandbox: this.id }, call);
  }

  /** Starts a stopped or archived (slower) sandbox, or retries one in error. */
  start(options: CallOptions = {}): Promise<types.StartSandboxResult> {
    return this.#client.startSandbox({ sandbox: this.id }, options);
  }

  /** Stops a sandbox: processes end, files stay. */
  stop(options: CallOptions = {}): Promise<types.StopSandboxResult> {
    return this.#client.stopSandbox({ sandbox: this.id }, options);
  }

  /** Compresses a stopped sandbox to save storage; StartSandbox brings it back. */
  archive(options: CallOptions = {}): Promise<types.ArchiveSandboxResult> {
    return this.#client.archiveSandbox({ sandbox: this.id }, options);
  }

  /** Deletes a sandbox and everything in it, for good, from any state. */
  delete(options: CallOptions = {}): Promise<types.DeleteSandboxResult> {
    return this.#client.deleteSandbox({ sandbox: this.id }, options);
  }

  /** Changes after how long a sandbox stops, is archived and deleted by itself. */
  configureAuto(options: HandleOptions<types.ConfigureSandboxAutoParameters, 'sandbox'> = {}): Promise<types.ConfigureSandboxAutoResult> {
    const [parameters, call] = apart<Omit<types.ConfigureSandboxAutoParameters, 'sandbox'>>(options);
    return this.#client.configureSandboxAuto({ ...parameters, sandbox: this.id }, call);
  }

  /** Changes vCPUs, memory or disk: at least one, all or nothing. */
  resize(options: HandleOptions<types.ResizeSandboxParameters, 'sandbox'> = {}): Promise<types.ResizeSandboxResult> {
    const [parameters, call] = apart<Omit<types.ResizeSandboxParameters, 'sandbox'>>(options);
    return this.#client.resizeSandbox({ ...parameters, sandbox: this.id }, call);
  }

  /** Replaces all labels of a sandbox; {} removes them. */
  setLabels(labels: types.SetSandboxLabelsParameters['labels'], options: CallOptions = {}): Promise<types.SetSandboxLabelsResult> {
    return this.#client.setSandboxLabels({ sandbox: this.id, labels }, options);
  }

  /**
   * Makes a token to log in to a started sandbox by ssh, scp, sftp, rsync or an editor, and returns the
   * command.
   */
  createSshAccess(options: HandleOptions<types.CreateSshAccessParameters, 'sandbox'> = {}): Promise<types.CreateSshAccessResult> {
    const [parameters, call] = apart<Omit<types.CreateSshAccessParameters, 'sandbox'>>(options);
    return this.#client.createSshAccess({ ...parameters, sandbox: this.id }, call);
  }

  /**
   * Lists the TCP ports that programs in a started sandbox listen on, with name, pid and command of the
   * process.
   */
  ports(options: CallOptions = {}): Promise<types.ListPortsResult> {
    return this.#client.listPorts({ sandbox: this.id }, options);
  }

  /** Gives the URL of what a started sandbox serves over HTTP on a port. */
  previewUrl(port: types.GetPortPreviewUrlParameters['port'], options: HandleOptions<types.GetPortPreviewUrlParameters, 'sandbox' | 'port'> = {}): Promise<types.GetPortPreviewUrlResult> {
    const [parameters, call] = apart<Omit<types.GetPortPreviewUrlParameters, 'sandbox' | 'port'>>(options);
    return this.#client.getPortPreviewUrl({ ...parameters, sandbox: this.id, port }, call);
  }

  /**
   * Runs bash -c as root or user, with empty standard input, and waits for its end; background children
   * live on.
   */
  run(command: types.RunCommandParameters['command'], options: HandleOptions<types.RunCommandParameters, 'sandbox' | 'command'> = {}): Promise<types.RunCommandResult> {
    const [parameters, call] = apart<Omit<types.RunCommandParameters, 'sandbox' | 'command'>>(options);
    return this.#client.runCommand({ ...parameters, sandbox: this.id, command }, call);
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
  upload(path: string, content: files.Bytes, options?: files.UploadOptions): Promise<files.Upload> {
    return this.#client.files.upload(this.#sandbox, path, content, options);
  }

  /** The timeout ends with the headers; the signal can still end the body. */
  download(path: string, options?: files.DownloadOptions): Promise<files.Download> {
    return this.#client.files.download(this.#sandbox, path, options);
  }

  /** Describes what is below a folder, without following links. */
  details(path: string, options?: files.FileDetailsOptions): Promise<files.FileDetails> {
    return this.#client.files.details(this.#sandbox, path, options);
  }

  /** Changes what is given of a file or folder, and follows a final link. */
  setAttributes(path: string, options: files.FileAttributesOptions): Promise<files.ChangedFile> {
    return this.#client.files.setAttributes(this.#sandbox, path, options);
  }

  /** Lists one directory, sorted by name, hidden files included: name, type (file or dir), size, link. */
  list(options: HandleOptions<types.ListFilesParameters, 'sandbox'> = {}): Promise<types.ListFilesResult> {
    const [parameters, call] = apart<Omit<types.ListFilesParameters, 'sandbox'>>(options);
    return this.#client.listFiles({ ...parameters, sandbox: this.#sandbox }, call);
  }

  /** Finds files and directories by name below a directory, hidden ones included, links not followed. */
  find(pattern: types.FindFilesParameters['pattern'], options: HandleOptions<types.FindFilesParameters, 'sandbox' | 'pattern'> = {}): Promise<types.FindFilesResult> {
    const [parameters, call] = apart<Omit<types.FindFilesParameters, 'sandbox' | 'pattern'>>(options);
    return this.#client.findFiles({ ...parameters, sandbox: this.#sandbox, pattern }, call);
  }

  /** Shows type (file, dir, symlink, other), size, permissions, owner and modified_time of one path. */
  info(path: types.GetFileInfoParameters['path'], options: HandleOptions<types.GetFileInfoParameters, 'sandbox' | 'path'> = {}): Promise<types.GetFileInfoResult> {
    const [parameters, call] = apart<Omit<types.GetFileInfoParameters, 'sandbox' | 'path'>>(options);
    return this.#client.getFileInfo({ ...parameters, sandbox: this.#sandbox, path }, call);
  }

  /** Reads a file or a range of its lines. */
  read(path: types.ReadFileParameters['path'], options: HandleOptions<types.ReadFileParameters, 'sandbox' | 'path'> = {}): Promise<types.ReadFileResult> {
    const [parameters, call] = apart<Omit<types.ReadFileParameters, 'sandbox' | 'path'>>(options);
    return this.#client.readFile({ ...parameters, sandbox: this.#sandbox, path }, call);
  }

  /** Creates a file or replaces it atomically, keeping its mode. */
  write(path: types.WriteFileParameters['path'], content: types.WriteFileParameters['content'], options: HandleOptions<types.WriteFileParameters, 'sandbox' | 'path' | 'content'> = {}): Promise<types.WriteFileResult> {
    const [parameters, call] = apart<Omit<types.WriteFileParameters, 'sandbox' | 'path' | 'content'>>(options);
    return this.#client.writeFile({ ...parameters, sandbox: this.#sandbox, path, content }, call);
  }

  /** Creates a directory and its missing parents. */
  createFolder(path: types.CreateFolderParameters['path'], options: HandleOptions<types.CreateFolderParameters, 'sandbox' | 'path'> = {}): Promise<types.CreateFolderResult> {
    const [parameters, call] = apart<Omit<types.CreateFolderParameters, 'sandbox' | 'path'>>(options);
    return this.#client.createFolder({ ...parameters, sandbox: this.#sandbox, path }, call);
  }

  /** Moves or renames a file or directory and overwrites nothing: already_exists. */
  move(source: types.MoveFileParameters['source'], destination: types.MoveFileParameters['destination'], options: HandleOptions<types.MoveFileParameters, 'sandbox' | 'source' | 'destination'> = {}): Promise<types.MoveFileResult> {
    const [parameters, call] = apart<Omit<types.MoveFileParameters, 'sandbox' | 'source' | 'destination'>>(options);
    return this.#client.moveFile({ ...parameters, sandbox: this.#sandbox, source, destination }, call);
  }

  /** Deletes a file, a link (never its target) or an empty directory. */
  delete(path: types.DeleteFileParameters['path'], options: HandleOptions<types.DeleteFileParameters, 'sandbox' | 'path'> = {}): Promise<types.DeleteFileResult> {
    const [parameters, call] = apart<Omit<types.DeleteFileParameters, 'sandbox' | 'path'>>(options);
    return this.#client.deleteFile({ ...parameters, sandbox: this.#sandbox, path }, call);
  }

  /** Finds lines in files as grep -rE does, hidden files included, binary ones skipped. */
  search(query: types.SearchContentParameters['query'], options: HandleOptions<types.SearchContentParameters, 'sandbox' | 'query'> = {}): Promise<types.SearchContentResult> {
    const [parameters, call] = apart<Omit<types.SearchContentParameters, 'sandbox' | 'query'>>(options);
    return this.#client.searchContent({ ...parameters, sandbox: this.#sandbox, query }, call);
  }

  /** Replaces every match, line by line as sed -E s/…/…/g, each file atomically. */
  replace(pattern: types.ReplaceInFilesParameters['pattern'], replacement: types.ReplaceInFilesParameters['replacement'], files: types.ReplaceInFilesParameters['files'], options: HandleOptions<types.ReplaceInFilesParameters, 'sandbox' | 'pattern' | 'replacement' | 'files'> = {}): Promise<types.ReplaceInFilesResult> {
    const [parameters, call] = apart<Omit<types.ReplaceInFilesParameters, 'sandbox' | 'pattern' | 'replacement' | 'files'>>(options);
    return this.#client.replaceInFiles({ ...parameters, sandbox: this.#sandbox, pattern, replacement, files }, call);
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
  run(code: types.RunCodeParameters['code'], options: HandleOptions<types.RunCodeParameters, 'sandbox' | 'code'> = {}): Promise<types.RunCodeResult> {
    const [parameters, call] = apart<Omit<types.RunCodeParameters, 'sandbox' | 'code'>>(options);
    return this.#client.runCode({ ...parameters, sandbox: this.#sandbox, code }, call);
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

  /** Kills the shell with all that it has started, and forgets the logs of its commands. */
  delete(sessionId: string, options?: RequestOptions): Promise<DeletedSession> {
    return this.#client.sessions.delete(this.#sandbox, sessionId, options);
  }

  /**
   * Opens a bash that stays: directory, variables and functions persist between its commands, which may
   * run in the background and take input.
   */
  create(options: HandleOptions<types.CreateSessionParameters, 'sandbox'> = {}): Promise<types.CreateSessionResult> {
    const [parameters, call] = apart<Omit<types.CreateSessionParameters, 'sandbox'>>(options);
    return this.#client.createSession({ ...parameters, sandbox: this.#sandbox }, call);
  }

  /**
   * Lists the active sessions of a sandbox, each with its newest commands first: command_id, command,
   * status and, once ended, exit_code.
   */
  list(options: CallOptions = {}): Promise<types.ListSessionsResult> {
    return this.#client.listSessions({ sandbox: this.#sandbox }, options);
  }

  /** Runs a command in a session, after those before it. */
  run(sessionId: types.RunSessionCommandParameters['session_id'], command: types.RunSessionCommandParameters['command'], options: HandleOptions<types.RunSessionCommandParameters, 'sandbox' | 'session_id' | 'command'> = {}): Promise<types.RunSessionCommandResult> {
    const [parameters, call] = apart<Omit<types.RunSessionCommandParameters, 'sandbox' | 'session_id' | 'command'>>(options);
    return this.#client.runSessionCommand({ ...parameters, sandbox: this.#sandbox, session_id: sessionId, command }, call);
  }

  /**
   * Returns what a session command has printed so far: output (as it came), stdout, stderr, status and,
   * once ended, exit_code.
   */
  logs(sessionId: types.GetSessionCommandLogsParameters['session_id'], commandId: types.GetSessionCommandLogsParameters['command_id'], options: HandleOptions<types.GetSessionCommandLogsParameters, 'sandbox' | 'session_id' | 'command_id'> = {}): Promise<types.GetSessionCommandLogsResult> {
    const [parameters, call] = apart<Omit<types.GetSessionCommandLogsParameters, 'sandbox' | 'session_id' | 'command_id'>>(options);
    return this.#client.getSessionCommandLogs({ ...parameters, sandbox: this.#sandbox, session_id: sessionId, command_id: commandId }, call);
  }

  /** Types a line into a running session command, as at a terminal that does not echo: answers, passwords. */
  send(sessionId: types.SendSessionInputParameters['session_id'], commandId: types.SendSessionInputParameters['command_id'], input: types.SendSessionInputParameters['input'], options: HandleOptions<types.SendSessionInputParameters, 'sandbox' | 'session_id' | 'command_id' | 'input'> = {}): Promise<types.SendSessionInputResult> {
    const [parameters, call] = apart<Omit<types.SendSessionInputParameters, 'sandbox' | 'session_id' | 'command_id' | 'input'>>(options);
    return this.#client.sendSessionInput({ ...parameters, sandbox: this.#sandbox, session_id: sessionId, command_id: commandId, input }, call);
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
  clone(url: types.GitCloneParameters['url'], options: HandleOptions<types.GitCloneParameters, 'sandbox' | 'url'> = {}): Promise<types.GitCloneResult> {
    const [parameters, call] = apart<Omit<types.GitCloneParameters, 'sandbox' | 'url'>>(options);
    return this.#client.gitClone({ ...parameters, sandbox: this.#sandbox, url }, call);
  }

  /**
   * Shows what changed in a Git repository: branch (null when detached), staged, modified, untracked and
   * conflicted paths from its root, commits ahead of and behind upstream (null without one).
   */
  status(options: HandleOptions<types.GitStatusParameters, 'sandbox'> = {}): Promise<types.GitStatusResult> {
    const [parameters, call] = apart<Omit<types.GitStatusParameters, 'sandbox'>>(options);
    return this.#client.gitStatus({ ...parameters, sandbox: this.#sandbox }, call);
  }

  /** Stages files or folders for the next commit, deletions included; ["."] stages everything. */
  add(files: types.GitAddParameters['files'], options: HandleOptions<types.GitAddParameters, 'sandbox' | 'files'> = {}): Promise<types.GitAddResult> {
    const [parameters, call] = apart<Omit<types.GitAddParameters, 'sandbox' | 'files'>>(options);
    return this.#client.gitAdd({ ...parameters, sandbox: this.#sandbox, files }, call);
  }

  /** Commits what is staged (GitAdd), also to conclude a merge. */
  commit(message: types.GitCommitParameters['message'], options: HandleOptions<types.GitCommitParameters, 'sandbox' | 'message'> = {}): Promise<types.GitCommitResult> {
    const [parameters, call] = apart<Omit<types.GitCommitParameters, 'sandbox' | 'message'>>(options);
    return this.#client.gitCommit({ ...parameters, sandbox: this.#sandbox, message }, call);
  }

  /**
   * Lists the local branches with name and current, and current, the one checked out (null when detached;
   * unborn: no commit yet).
   */
  branches(options: HandleOptions<types.GitBranchesParameters, 'sandbox'> = {}): Promise<types.GitBranchesResult> {
    const [parameters, call] = apart<Omit<types.GitBranchesParameters, 'sandbox'>>(options);
    return this.#client.gitBranches({ ...parameters, sandbox: this.#sandbox }, call);
  }

  /**
   * Switches to a branch (also one that only the remote has), tag or commit, or with create_new_branch
   * makes branch ref at start_point and switches to it.
   */
  checkout(ref: types.GitCheckoutParameters['ref'], options: HandleOptions<types.GitCheckoutParameters, 'sandbox' | 'ref'> = {}): Promise<types.GitCheckoutResult> {
    const [parameters, call] = apart<Omit<types.GitCheckoutParameters, 'sandbox' | 'ref'>>(options);
    return this.#client.gitCheckout({ ...parameters, sandbox: this.#sandbox, ref }, call);
  }

  /** Makes a branch at start_point and switches to it, with local changes kept. */
  createBranch(branch: types.GitCreateBranchParameters['branch'], options: HandleOptions<types.GitCreateBranchParameters, 'sandbox' | 'branch'> = {}): Promise<types.GitCreateBranchResult> {
    const [parameters, call] = apart<Omit<types.GitCreateBranchParameters, 'sandbox' | 'branch'>>(options);
    return this.#client.gitCreateBranch({ ...parameters, sandbox: this.#sandbox, branch }, call);
  }

  /** Deletes a local branch. */
  deleteBranch(branch: types.GitDeleteBranchParameters['branch'], options: HandleOptions<types.GitDeleteBranchParameters, 'sandbox' | 'branch'> = {}): Promise<types.GitDeleteBranchResult> {
    const [parameters, call] = apart<Omit<types.GitDeleteBranchParameters, 'sandbox' | 'branch'>>(options);
    return this.#client.gitDeleteBranch({ ...parameters, sandbox: this.#sandbox, branch }, call);
  }

  /** Lists commits, newest first: hash, author, email, date (UTC) and message. */
  log(options: HandleOptions<types.GitLogParameters, 'sandbox'> = {}): Promise<types.GitLogResult> {
    const [parameters, call] = apart<Omit<types.GitLogParameters, 'sandbox'>>(options);
    return this.#client.gitLog({ ...parameters, sandbox: this.#sandbox }, call);
  }

  /**
   * Fetches from the remote (URL, or path in the sandbox) and merges into the branch that is checked out,
   * with the credentials given at clone or configured.
   */
  pull(options: HandleOptions<types.GitPullParameters, 'sandbox'> = {}): Promise<types.GitPullResult> {
    const [parameters, call] = apart<Omit<types.GitPullParameters, 'sandbox'>>(options);
    return this.#client.gitPull({ ...parameters, sandbox: this.#sandbox }, call);
  }

  /**
   * Pushes a branch to that of the same name at its remote (URL, or path in the sandbox), with the
   * credentials given at clone or configured; it then tracks that one.
   */
  push(options: HandleOptions<types.GitPushParameters, 'sandbox'> = {}): Promise<types.GitPushResult> {
    const [parameters, call] = apart<Omit<types.GitPushParameters, 'sandbox'>>(options);
    return this.#client.gitPush({ ...parameters, sandbox: this.#sandbox }, call);
  }
}
