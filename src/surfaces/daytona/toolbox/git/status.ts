/** The state of a repository, from Git's machine format: our tool does not tell an added file from a changed one. */
import { SandhavenError } from '../../../../model/errors.ts';
import type { DaytonaCall } from '../../base/call.ts';
import { git } from './program.ts';

interface FileStatus {
  name: string;
  staging: string;
  worktree: string;
  /** The earlier name of a renamed or copied file. */
  extra: string;
}

const states: Partial<Record<string, string>> = {
  ...{ '.': 'Unmodified', '?': 'Untracked', M: 'Modified', T: 'Modified', A: 'Added', D: 'Deleted' },
  ...{ R: 'Renamed', C: 'Copied', U: 'Updated but unmerged' },
};

export async function status(call: DaytonaCall): Promise<object> {
  const args = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all'];
  return parseStatus(await git(call, args, { path: call.query['path'] }));
}

export function parseStatus(printed: string): object {
  const fileStatus: FileStatus[] = [];
  let branch = '';
  let upstream = '';
  let [ahead, behind] = [0, 0];
  let isPublished = false;
  const lines = printed.split('\0');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [kind = '', ...words] = line.split(' ');
    if (kind === '#') {
      const [name, value = '', other = ''] = words;
      if (name === 'branch.head') branch = value;
      if (name === 'branch.upstream') upstream = value;
      if (name === 'branch.ab') [ahead, behind, isPublished] = [Number(value), -Number(other), true];
    } else if (kind !== '') {
      fileStatus.push(entryOf(kind, words, kind === '2' ? (lines.shift() ?? '') : ''));
    }
  }
  const detached = branch === '(detached)';
  const currentBranch = detached ? 'HEAD' : branch;
  return { currentBranch, detached, upstream, ahead, behind, branchPublished: isPublished, fileStatus };
}

/** Fields before the path, by the kind of the line. */
const before: Partial<Record<string, number>> = { '?': 0, '1': 7, '2': 8, u: 9 };

function entryOf(kind: string, words: string[], extra: string): FileStatus {
  const at = before[kind];
  const [staging, worktree] = kind === '?' ? '??' : kind === 'u' ? 'UU' : (words[0] ?? '');
  const [shownStaging, shownWorktree] = [states[staging ?? ''], states[worktree ?? '']];
  if (at === undefined || shownStaging === undefined || shownWorktree === undefined) {
    throw new SandhavenError('failed_precondition', "The sandbox's git does not answer in Git's formats.");
  }
  return { name: words.slice(at).join(' '), staging: shownStaging, worktree: shownWorktree, extra };
}
