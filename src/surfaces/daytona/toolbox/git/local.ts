/** Work in a repository: staging, commits, branches, resets, and git's configuration. */
import { invalidArgument, SandhavenError } from '../../../../model/errors.ts';
import { branchNameFault } from '../../../../model/git/ref.ts';
import { limits } from '../../../../model/limits.ts';
import type { DaytonaCall, DaytonaRoute } from '../../base/call.ts';
import { failureOf, git, neededIn, revisionIn, runGit, textIn, textsIn } from './program.ts';

export const localRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: '/git/init', status: 201, handler: init },
  { method: 'GET', path: '/git/status', handler: status },
  {
    method: 'POST',
    path: '/git/add',
    async handler({ tool, params, body: { path, files } }) {
      await tool('Sandbox.GitAdd', { ...params, path, files });
    },
  },
  { method: 'POST', path: '/git/commit', handler: commit },
  {
    method: 'GET',
    path: '/git/history',
    async handler({ tool, params, query: { path } }) {
      const { commits } = await tool('Sandbox.GitLog', { ...params, path, max_count: limits.git.log.max });
      return (commits as Commit[]).map(({ date, ...commit }) => ({ ...commit, timestamp: date }));
    },
  },
  {
    method: 'GET',
    path: '/git/branches',
    async handler({ tool, params, query: { path } }) {
      const { branches, current } = await tool('Sandbox.GitBranches', { ...params, path });
      return { branches: (branches as { name: string }[]).map(({ name }) => name), current: current ?? '' };
    },
  },
  {
    method: 'POST',
    path: '/git/branches',
    status: 201,
    // Our tool would switch to the new branch.
    async handler(call) {
      await git(call, ['branch', '--', branchIn(call)], { path: neededIn(call.body, 'path') });
    },
  },
  {
    method: 'DELETE',
    path: '/git/branches',
    status: 204,
    async handler({ tool, params, body: { path, name } }) {
      await tool('Sandbox.GitDeleteBranch', { ...params, path, branch: name, force: true });
    },
  },
  {
    method: 'POST',
    path: '/git/checkout',
    async handler({ tool, params, body: { path, branch } }) {
      await tool('Sandbox.GitCheckout', { ...params, path, ref: branch });
    },
  },
  { method: 'POST', path: '/git/reset', handler: reset },
  { method: 'POST', path: '/git/restore', handler: restore },
  {
    method: 'GET',
    path: '/git/config',
    async handler(call) {
      const key = neededIn(call.query, 'key');
      const run = await runGit(
        call,
        [...configOf(call.query), '--null', '--get', '--', key],
        placeOf(call.query),
      );
      // 1: it is not set.
      if (run.exitCode > 1) throw failureOf(run);
      return { value: run.exitCode === 1 ? null : run.stdout.replace(/\0$/, '') };
    },
  },
  {
    method: 'POST',
    path: '/git/config',
    async handler(call) {
      const { value = '' } = call.body;
      if (typeof value !== 'string') throw invalidArgument('value', 'value must be a text.');
      await configure(call, neededIn(call.body, 'key'), value);
    },
  },
  {
    method: 'POST',
    path: '/git/config/user',
    async handler(call) {
      await configure(call, 'user.name', neededIn(call.body, 'name'));
      await configure(call, 'user.email', neededIn(call.body, 'email'));
    },
  },
];

interface Commit {
  date: string;
}

type Given = DaytonaCall['body'];

/** Makes the folder first: git runs in it. */
async function init(call: DaytonaCall): Promise<void> {
  const path = neededIn(call.body, 'path');
  const branch = textIn(call.body, 'initial_branch');
  await call.tool('Sandbox.CreateFolder', { ...call.params, path });
  const bare = call.body['bare'] === true ? ['--bare'] : [];
  await git(call, ['init', '--quiet', ...bare, ...(branch ? [`--initial-branch=${branch}`] : [])], { path });
}

async function commit(call: DaytonaCall): Promise<{ hash: string }> {
  const { path, message, author, email, allow_empty } = call.body;
  if (allow_empty !== true) {
    const names = { author_name: author || undefined, author_email: email || undefined };
    const { sha } = await call.tool('Sandbox.GitCommit', { ...call.params, path, message, ...names });
    return { hash: String(sha) };
  }
  const [name, address] = [textIn(call.body, 'author'), textIn(call.body, 'email')];
  const env = {
    ...(name ? { GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name } : {}),
    ...(address ? { GIT_AUTHOR_EMAIL: address, GIT_COMMITTER_EMAIL: address } : {}),
  };
  const place = { path: neededIn(call.body, 'path') };
  const words = `--message=${neededIn(call.body, 'message')}`;
  await git(call, ['commit', '--quiet', '--allow-empty', '--cleanup=verbatim', words], { ...place, env });
  return { hash: (await git(call, ['rev-parse', 'HEAD'], place)).trim() };
}

const modes = ['soft', 'mixed', 'hard', 'merge', 'keep'];

async function reset(call: DaytonaCall): Promise<void> {
  const mode = textIn(call.body, 'mode');
  if (mode && !modes.includes(mode))
    throw invalidArgument('mode', `mode must be one of ${modes.join(', ')}.`);
  const files = textsIn(call.body, 'files');
  const target = revisionIn(call.body, 'target') ?? 'HEAD';
  // Git takes no mode beside files, but for the one that it then means.
  const chosen = mode === undefined || (mode === 'mixed' && files.length > 0) ? [] : [`--${mode}`];
  await git(call, ['reset', '--quiet', ...chosen, target, '--', ...files], {
    path: neededIn(call.body, 'path'),
  });
}

async function restore(call: DaytonaCall): Promise<void> {
  const { staged, worktree } = call.body;
  const source = revisionIn(call.body, 'source');
  const args = [
    ...(staged === true ? ['--staged'] : []),
    ...(worktree === true ? ['--worktree'] : []),
    ...(source ? [`--source=${source}`] : []),
  ];
  await git(call, ['restore', ...args, '--', ...textsIn(call.body, 'files')], {
    path: neededIn(call.body, 'path'),
  });
}

async function configure(call: DaytonaCall, key: string, value: string): Promise<void> {
  await git(call, [...configOf(call.body), '--replace-all', '--', key, value], placeOf(call.body));
}

const scopes = ['global', 'local', 'system'];

function configOf(given: Given): string[] {
  const scope = textIn(given, 'scope') ?? 'global';
  if (!scopes.includes(scope)) throw invalidArgument('scope', `scope must be one of ${scopes.join(', ')}.`);
  return ['config', `--${scope}`];
}

/** The configuration of a repository is of one, the others are not. */
function placeOf(given: Given): { path?: string } {
  return given['scope'] === 'local' ? { path: neededIn(given, 'path') } : {};
}

function branchIn({ body }: DaytonaCall): string {
  const name = neededIn(body, 'name');
  const fault = branchNameFault(name);
  if (fault === null) return name;
  throw invalidArgument('name', `name ${fault}.`);
}

// The state of a repository, from Git's machine format: our tool does not tell an added file from a changed one.

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
