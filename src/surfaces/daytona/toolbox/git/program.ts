/** Git's own program in a sandbox, for what no Git tool of ours does: run by a shell, with every argument quoted. */
import { invalidArgument, SandhavenError } from '../../../../model/errors.ts';
import { revisionFault } from '../../../../model/git/ref.ts';
import { withoutCredentials } from '../../../../model/git/remote.ts';
import { limits } from '../../../../model/limits.ts';
import type { DaytonaCall } from '../../base/call.ts';

export interface GitRun {
  exitCode: number;
  stdout: string;
  stderr: string;
}

interface Place {
  /** A folder of the repository; by default the one where relative paths begin. */
  path?: unknown;
  /** Secrets go this way alone: a command line is seen by all in the sandbox. */
  env?: Record<string, string>;
}

/** As for our Git tools: no prompts, no pager, no editor; names of files are no patterns; any owner's repository is trusted. */
const environment = {
  LC_ALL: 'C.UTF-8',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
};
const settings = ['--no-pager', '-c', 'safe.directory=*'];

/** Returns what git prints. Rejects with its own words when it fails. */
export async function git(call: DaytonaCall, args: string[], place: Place = {}): Promise<string> {
  const run = await runGit(call, args, place);
  if (run.exitCode !== 0) throw failureOf(run);
  return run.stdout;
}

export function runGit(call: DaytonaCall, args: string[], place: Place = {}): Promise<GitRun> {
  return runShell(call, ['git', ...settings, ...args].map(quoted).join(' '), place);
}

/** An exit status is a result. */
export async function runShell(call: DaytonaCall, command: string, place: Place = {}): Promise<GitRun> {
  const { exit_code, stdout, stderr, timed_out, truncated } = await call.tool('Sandbox.RunCommand', {
    ...call.params,
    ...{ command, cwd: place.path, env: { ...environment, ...place.env } },
    timeout_seconds: limits.runCommandTimeoutSeconds.max,
  });
  if (timed_out) throw new SandhavenError('timeout', 'Git took too long.');
  if (truncated) throw new SandhavenError('too_large', 'Git prints more than an answer can hold.');
  return { exitCode: Number(exit_code), stdout: String(stdout), stderr: String(stderr) };
}

export function failureOf({ stderr, stdout }: GitRun): SandhavenError {
  const said = withoutCredentials((stderr || stdout).trim()).slice(-limits.git.complaintChars);
  return new SandhavenError('failed_precondition', `Git says: ${said}`);
}

/** @param parameter Name of it in the request. */
export function revisionIn(body: DaytonaCall['body'], parameter: string): string | undefined {
  const revision = textIn(body, parameter);
  const fault = revision === undefined ? null : revisionFault(revision);
  if (fault !== null) throw invalidArgument(parameter, `${parameter} ${fault}.`);
  return revision;
}

/** Returns undefined for a text that is left out, or empty. */
export function textIn(body: DaytonaCall['body'], parameter: string): string | undefined {
  const value = body[parameter] ?? '';
  if (typeof value === 'string' && !value.includes('\0')) return value || undefined;
  throw invalidArgument(parameter, `${parameter} must be a text without NUL characters.`);
}

export function neededIn(body: DaytonaCall['body'], parameter: string): string {
  const text = textIn(body, parameter);
  if (text === undefined) throw invalidArgument(parameter, `${parameter} is required.`);
  return text;
}

export function textsIn(body: DaytonaCall['body'], parameter: string): string[] {
  const value = body[parameter] ?? [];
  const isList =
    Array.isArray(value) && value.every((text) => typeof text === 'string' && !text.includes('\0'));
  if (isList) return value;
  throw invalidArgument(parameter, `${parameter} must be a list of texts.`);
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
