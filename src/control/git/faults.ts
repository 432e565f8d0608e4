/** Errors that callers get for a failed git. */
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Git, GitRun } from './git.ts';

/** Returns the general error of a failed run: no repository, or git's own words. */
export async function failureOf(git: Git, run: GitRun, what: string, hint?: string): Promise<SandhavenError> {
  return (await noRepository(git)) ?? refused(run, what, hint);
}

/** Returns null when the folder lies in a repository with a working tree. */
export async function noRepository(git: Git): Promise<SandhavenError | null> {
  const inside = await git.ask(['rev-parse', '--is-inside-work-tree']);
  if (inside === 'true') return null;
  const detail =
    inside === null
      ? `There is no Git repository at ${quoted(git.folder)}.`
      : `The Git repository at ${quoted(git.folder)} has no working tree there.`;
  return new SandhavenError('failed_precondition', detail, {
    parameter: 'path',
    hint: 'Give the folder of a repository as path, or make one: Sandbox.GitClone, or git init with Sandbox.RunCommand.',
  });
}

export function refused({ complaint }: GitRun, what: string, hint?: string): SandhavenError {
  const words = complaint === '' ? '' : ` Git says: ${complaint}`;
  return new SandhavenError('failed_precondition', `${what}${words}`, hint ? { hint } : {});
}

export function noSuchRef(parameter: string, ref: string): SandhavenError {
  return new SandhavenError('not_found', `There is no branch, tag or commit ${quoted(ref)}.`, {
    parameter,
    resource: 'ref',
    hint: 'Sandbox.GitBranches lists the branches, Sandbox.GitLog the commits.',
  });
}

export function noSuchBranch(branch: string, where = 'here'): SandhavenError {
  const { fields } = notFound('branch', '');
  return new SandhavenError('not_found', `There is no branch ${quoted(branch)} ${where}.`, {
    ...fields,
    parameter: 'branch',
    hint: 'Sandbox.GitBranches lists the branches that are here.',
  });
}

export function noIdentity(): SandhavenError {
  return new SandhavenError('failed_precondition', "The sandbox's Git does not know who commits.", {
    hint:
      'Give author_name and author_email to Sandbox.GitCommit, or run: git config --global user.name "…" && ' +
      'git config --global user.email "…".',
  });
}

export function detached(what: string): SandhavenError {
  return new SandhavenError('failed_precondition', `No branch is checked out (detached HEAD): ${what}.`, {
    hint: 'Switch to a branch with Sandbox.GitCheckout, or make one with Sandbox.GitCreateBranch.',
  });
}

/** Lists some of the names, and counts the rest. */
export function named(files: string[]): string {
  const shown = files.slice(0, limits.git.namedFiles).map(quoted).join(', ');
  const more = files.length - limits.git.namedFiles;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

export function quoted(text: string): string {
  return `'${text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\u{FFFD}')}'`;
}
