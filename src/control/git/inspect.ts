/** Reads the state, branches and commits of a repository. */
import { limits } from '../../model/limits.ts';
import { failureOf, noSuchRef } from './faults.ts';
import {
  BRANCH_FORMAT,
  type GitCommit,
  type GitStatus,
  LOG_FORMAT,
  parseBranches,
  parseLog,
  parseStatus,
} from './formats.ts';
import type { Git } from './git.ts';

export interface Branches {
  branches: { name: string; current: boolean }[];
  /** null on a detached HEAD; a branch without commits is current and not listed. */
  current: string | null;
  /** The current branch has no commit yet. */
  unborn: boolean;
  truncated: boolean;
}

/** Returns the state of the whole repository, with paths from its root; lists files in new folders one by one. */
export async function status(git: Git): Promise<GitStatus> {
  const run = await git.run([
    'status',
    '--porcelain=v2',
    '--branch',
    '-z',
    '--untracked-files=all',
    '--ignored=no',
    '--no-renames',
    '--ahead-behind',
  ]);
  if (run.exitCode !== 0) throw await failureOf(git, run, 'The status could not be read.');
  return parseStatus(run.stdout, run.cut);
}

export async function branches(git: Git): Promise<Branches> {
  const run = await git.run([
    'for-each-ref',
    `--count=${limits.git.branches + 1}`,
    `--format=${BRANCH_FORMAT}`,
    'refs/heads',
  ]);
  if (run.exitCode !== 0) throw await failureOf(git, run, 'The branches could not be read.');
  const found = parseBranches(run.stdout);
  const listed = found.slice(0, limits.git.branches);
  const born = listed.find((branch) => branch.current)?.name;
  const current = born ?? (await git.branch());
  const unborn = born === undefined && current !== null && (await git.commit('HEAD')) === null;
  return { branches: listed, current, unborn, truncated: run.cut || listed.length < found.length };
}

export async function log(
  git: Git,
  { maxCount, branch }: { maxCount: number; branch?: string },
): Promise<{ commits: GitCommit[]; truncated: boolean }> {
  const run = await git.run([
    'log',
    '-z',
    `--max-count=${maxCount}`,
    `--format=${LOG_FORMAT}`,
    '--no-patch',
    '--no-notes',
    '--no-decorate',
    '--encoding=UTF-8',
    '--end-of-options',
    branch ?? 'HEAD',
    '--',
  ]);
  if (run.exitCode === 0) return { commits: parseLog(run.stdout), truncated: run.cut };
  const failure = await failureOf(git, run, 'The history could not be read.');
  if (branch === undefined || (await git.branch()) === branch) {
    if ((await git.commit('HEAD')) === null && (await git.branch()) !== null) {
      return { commits: [], truncated: false };
    }
  } else if ((await git.commit(branch)) === null) {
    throw noSuchRef('branch', branch);
  }
  throw failure;
}
