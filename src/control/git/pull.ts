/**
 * Pulls and pushes. A pull fetches, then merges, so that a refusal of the remote and a failed merge are distinct
 * errors.
 */
import { SandhavenError } from '../../model/errors.ts';
import { conflicts, knowsWhoCommits, unresolved } from './commit.ts';
import { detached, failureOf, noIdentity, noRepository, noSuchBranch, quoted } from './faults.ts';
import { type PushedRef, parsePush } from './formats.ts';
import type { Git } from './git.ts';
import {
  accessFor,
  type Configuration,
  configuration,
  type RemoteDependencies,
  type RunRemote,
  remoteLacks,
  remoteOf,
  unreachable,
  withRemote,
} from './remote.ts';

export interface Pulled {
  branch: string;
  updated: boolean;
  sha: string;
  /** The remote's name in the repository, and its URL without credentials. */
  remote: string;
  url: string;
}

interface Source {
  remote: string;
  /** `refs/heads/…` at the remote. */
  ref: string;
}

const RESOLVE =
  'Edit the files, stage them with Sandbox.GitAdd and conclude with Sandbox.GitCommit (Sandbox.GitStatus lists ' +
  'them as conflicted), or give up with Sandbox.RunCommand: git merge --abort.';

/** @param from A branch of the remote in place of the tracked one. */
export async function pull(git: Git, parts: RemoteDependencies, from?: string): Promise<Pulled> {
  const branch = await git.branch();
  if (branch === null) throw (await noRepository(git)) ?? detached('there is no branch to pull into');
  const config = await configuration(git);
  const source = sourceOf(config, branch, from);
  const remote = remoteOf(config, source.remote, false);
  const purpose = { service: 'git-upload-pack' } as const;
  const access = await accessFor(parts, git.place.sandboxId, remote, purpose);
  const operation = { remote, access, config, purpose, doing: 'Pulling from' };
  const before = await git.commit('HEAD');
  const fetched = await withRemote(git, parts, operation, async (run) => {
    const { exitCode, ...rest } = await fetchBranch(git, run, source, branch, from === undefined);
    if (exitCode === 0) return git.commit('FETCH_HEAD');
    if (await remoteLacks(git, run, source.remote, [source.ref])) {
      throw noSuchBranch(source.ref.replace('refs/heads/', ''), 'at the remote');
    }
    throw unreachable({ exitCode, ...rest }, remote, access);
  });
  if (fetched === null) throw noSuchBranch(source.ref, 'at the remote');
  await merge(
    git,
    fetched,
    `Merge branch ${quoted(source.ref.replace('refs/heads/', ''))} of ${remote.shown}`,
  );
  const sha = (await git.commit('HEAD')) ?? fetched;
  return { branch, updated: sha !== before, sha, remote: source.remote, url: remote.shown };
}

function sourceOf(config: Configuration, branch: string, from: string | undefined): Source {
  const remote = config.get(`branch.${branch}.remote`)?.at(-1);
  if (from !== undefined) return { remote: remote ?? onlyRemote(config), ref: `refs/heads/${from}` };
  const ref = config.get(`branch.${branch}.merge`)?.at(-1);
  if (remote !== undefined && ref?.startsWith('refs/heads/')) return { remote, ref };
  throw new SandhavenError(
    'failed_precondition',
    `The branch ${quoted(branch)} tracks no branch of a remote.`,
    {
      hint: 'Give the branch to pull, or push it first with Sandbox.GitPush, which makes it track.',
    },
  );
}

/** Returns the only remote's name, else `origin`. */
function onlyRemote(config: Configuration): string {
  const names = new Set([...config.keys()].flatMap((key) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []));
  const [first] = names;
  return names.size === 1 && first !== undefined ? first : 'origin';
}

/**
 * Fetches all that the remote's configuration names when the tracked branch is wanted. FETCH_HEAD then begins with that
 * branch, unless the remote has lost it; where they differ, fetches the branch by name.
 */
async function fetchBranch(
  git: Git,
  run: RunRemote,
  { remote, ref }: Source,
  branch: string,
  tracked: boolean,
) {
  if (tracked) {
    const all = await run(git, ['fetch', '--quiet', '--', remote]);
    if (all.exitCode !== 0) return all;
    const followed = await git.commit(`${branch}@{upstream}`);
    if (followed !== null && followed === (await git.commit('FETCH_HEAD'))) return all;
  }
  return run(git, ['fetch', '--quiet', '--', remote, ref]);
}

async function merge(git: Git, commit: string, message: string): Promise<void> {
  const run = await git.run(['merge', '--quiet', '--ff', '--no-edit', '--no-stat', '-m', message, commit]);
  if (run.exitCode === 0) return;
  const files = await conflicts(git);
  if (files.length > 0) throw unresolved(files, RESOLVE);
  if ((await git.commit('MERGE_HEAD')) !== null) {
    throw new SandhavenError('failed_precondition', 'A merge is under way that is not concluded.', {
      hint: 'Conclude it with Sandbox.GitCommit, or give it up with Sandbox.RunCommand: git merge --abort.',
    });
  }
  if (!(await knowsWhoCommits(git))) throw noIdentity();
  throw await failureOf(
    git,
    run,
    'What was fetched could not be merged.',
    'Local changes in the way: commit them first with Sandbox.GitAdd and Sandbox.GitCommit, then pull again.',
  );
}

const SUMMARY_CHARS = 300;

/** Pushes one branch to the branch of the same name. */
export interface Pushed {
  branch: string;
  /** The remote's name in the repository, and its URL without credentials. */
  remote: string;
  url: string;
}

/** Pushes, and makes the branch track its destination unless it tracks another. */
export async function push(
  git: Git,
  parts: RemoteDependencies,
  request: { branch?: string; force: boolean },
): Promise<Pushed> {
  const branch = request.branch ?? (await git.branch());
  if (branch === null) throw (await noRepository(git)) ?? detached('there is no branch to push');
  const ref = `refs/heads/${branch}`;
  if ((await git.commit(ref)) === null) throw (await noRepository(git)) ?? nothingToPush(branch, request);
  const config = await configuration(git);
  const tracked = config.get(`branch.${branch}.remote`)?.at(-1);
  const name =
    config.get(`branch.${branch}.pushremote`)?.at(-1) ??
    config.get('remote.pushdefault')?.at(-1) ??
    tracked ??
    onlyRemote(config);
  const remote = remoteOf(config, name, true);
  const purpose = { service: 'git-receive-pack', ref } as const;
  const access = await accessFor(parts, git.place.sandboxId, remote, purpose);
  const operation = { remote, access, config, purpose, doing: 'Pushing to' };
  const args = [
    'push',
    '--porcelain',
    '--no-follow-tags',
    ...(request.force ? ['--force'] : []),
    ...(tracked === undefined ? ['--set-upstream'] : []),
    '--',
    name,
    `${ref}:${ref}`,
  ];
  await withRemote(git, parts, operation, async (run) => {
    const pushed = await run(git, args);
    const rejected = parsePush(pushed.stdout).find((each) => each.rejected);
    if (rejected) throw rejection(branch, rejected);
    if (pushed.exitCode === 0) return;
    // A hook inside the repository ends the push before git contacts the remote.
    throw (
      (await noRepository(git)) ??
      (access ? await failureOf(git, pushed, 'The push failed.') : unreachable(pushed, remote, access))
    );
  });
  return { branch, remote: name, url: remote.shown };
}

function nothingToPush(branch: string, request: { branch?: string }): SandhavenError {
  if (request.branch !== undefined) return noSuchBranch(branch);
  return new SandhavenError('failed_precondition', `The branch ${quoted(branch)} has no commits yet.`, {
    hint: 'Commit first, with Sandbox.GitAdd and Sandbox.GitCommit.',
  });
}

function rejection(branch: string, { byRemote, summary }: PushedRef): SandhavenError {
  const why = summary.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').slice(0, SUMMARY_CHARS);
  return new SandhavenError('failed_precondition', `The branch ${quoted(branch)} was refused: ${why}`, {
    hint: byRemote
      ? 'The remote has a rule or a hook against it; push another branch, or change what it asks for.'
      : 'The remote has commits that are not here: call Sandbox.GitPull first, or set force to true to drop them.',
  });
}
