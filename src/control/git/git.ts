/**
 * Runs git inside one sandbox: argument arrays without a shell, an environment without prompts, and only exit statuses
 * and machine formats as results; git's messages are passed on, never parsed.
 */
import { concerns, SandhavenError } from '../../model/errors.ts';
import { withoutCredentials } from '../../model/git/remote.ts';
import { limits } from '../../model/limits.ts';
import { pathToText } from '../../model/path-text.ts';
import type { AgentLink, AsUser } from '../ports/index.ts';

/** Settings of one call, as in `git -c`; a key may repeat. */
export type GitConfig = [key: string, value: string][];

export interface GitRun {
  exitCode: number;
  /** Without its end when `cut`. */
  stdout: Buffer;
  cut: boolean;
  /** git's message for people, of bounded length. */
  complaint: string;
}

export interface GitRunOptions {
  timeoutMs?: number;
  config?: GitConfig;
  env?: Record<string, string>;
}

export interface GitPlace extends AsUser {
  agent: AgentLink;
  sandboxId: string;
  /** Environment of a process in the sandbox, without variables that point git at another repository. */
  env: Record<string, string>;
  signal: AbortSignal | undefined;
}

const TRANSPORTS = ['http', 'https', 'ssh', 'git', 'file'];

/** Precede the settings of a call, so that those win. */
const settings: GitConfig = [
  ['safe.directory', '*'],
  ['protocol.allow', 'never'],
  ...TRANSPORTS.map((name): [string, string] => [`protocol.${name}.allow`, 'always']),
  ['color.ui', 'false'],
  ['core.quotePath', 'false'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['user.useConfigOnly', 'true'],
  ['log.showSignature', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['i18n.logOutputEncoding', 'UTF-8'],
];

const environment: Record<string, string> = {
  LC_ALL: 'C.UTF-8',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  GIT_MERGE_AUTOEDIT: 'no',
  GIT_PAGER: 'cat',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ALLOW_PROTOCOL: TRANSPORTS.join(':'),
};

/** Variables that point git away from its working folder or its configuration, or add to its output. */
const misleading =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX|TRACE.*|CONFIG|(?:GLOB|NOGLOB|ICASE)_PATHSPECS)$/;

export class Git {
  readonly place: GitPlace;
  /** The working folder. */
  readonly folder: string;

  constructor(place: GitPlace, folder: string) {
    const kept = Object.entries(place.env).filter(([key]) => !misleading.test(key));
    this.place = { ...place, env: Object.fromEntries(kept) };
    this.folder = folder;
  }

  at(folder: string): Git {
    return new Git(this.place, folder);
  }

  /** Rejects only when git cannot run or exceeds its timeout; an exit status is a result. */
  async run(args: string[], options: GitRunOptions = {}): Promise<GitRun> {
    const { agent, sandboxId, user, env, signal } = this.place;
    const { timeoutMs = limits.git.localMs, config = [] } = options;
    const { outputBytes } = limits.git;
    const request = {
      user,
      argv: ['git', '--no-pager', ...[...settings, ...config].flatMap(toFlag), ...args],
      cwd: this.folder,
      env: { ...env, ...environment, ...options.env },
      timeoutMs,
      outputBytes,
    };
    const ran = await agent.execBytes(sandboxId, request, signal).catch((error: unknown) => {
      throw explained(error);
    });
    if (ran.timedOut) throw tooSlow(timeoutMs);
    const cut = ran.stdout.length > outputBytes;
    return {
      exitCode: ran.exitCode,
      // The first half, less the bytes of a character that the cut may have split.
      stdout: cut ? ran.stdout.subarray(0, outputBytes / 2 - 4) : ran.stdout,
      cut,
      complaint: complaintOf(ran.stderr),
    };
  }

  /** Returns standard output without its line end, or null when git exits with anything but 0. */
  async ask(args: string[]): Promise<string | null> {
    const { exitCode, stdout } = await this.run(args);
    return exitCode === 0 ? pathToText(stdout).replace(/\n$/, '') : null;
  }

  /** Returns true when git exits with 0. */
  async holds(args: string[]): Promise<boolean> {
    return (await this.run(args)).exitCode === 0;
  }

  /** Returns the checked-out branch, also one without commits; null on a detached HEAD. */
  async branch(): Promise<string | null> {
    return this.ask(['symbolic-ref', '--quiet', '--short', 'HEAD']);
  }

  /** Returns the commit of a revision; null when there is none. */
  async commit(revision: string): Promise<string | null> {
    return this.ask(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]);
  }
}

function toFlag([key, value]: [string, string]): string[] {
  return ['-c', `${key}=${value}`];
}

function explained(error: unknown): unknown {
  if (!(error instanceof SandhavenError)) return error;
  if (concerns(error, 'interpreter')) {
    return new SandhavenError('failed_precondition', "The sandbox's image has no git.", {
      hint: 'Install it with Sandbox.RunCommand (apt-get update && apt-get install -y git), or use the base image.',
    });
  }
  if (error.fields.parameter !== 'cwd') return error;
  return new SandhavenError(error.code, error.message, {
    ...error.fields,
    parameter: 'path',
    hint: 'Give the folder of the repository; Sandbox.GitClone makes one.',
  });
}

function tooSlow(timeoutMs: number): SandhavenError {
  return new SandhavenError('timeout', `Git did not end within ${timeoutMs / 1_000} seconds.`, {
    hint: 'If a hook or a very large repository is the cause, run git with Sandbox.RunCommand.',
  });
}

/** Returns the end of git's message, where the reason stands, on one line. */
function complaintOf(stderr: Buffer): string {
  const line = withoutCredentials(stderr.subarray(-4 * limits.git.complaintChars).toString('utf8'))
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/?/g, 'the remote')
    .trim();
  return line.length > limits.git.complaintChars ? `…${line.slice(-limits.git.complaintChars)}` : line;
}
