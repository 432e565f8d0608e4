/** Pushes one branch to the branch of the same name. */
import { SandhavenError } from '../../model/errors.ts';
import { detached, failureOf, noRepository, noSuchBranch, quoted } from './faults.ts';
import { type PushedRef, parsePush } from './formats.ts';
import type { Git } from './git.ts';
import { onlyRemote } from './pull.ts';
import {
  accessFor,
  configuration,
  type RemoteDependencies,
  remoteOf,
  unreachable,
  withRemote,
} from './remote.ts';

const SUMMARY_CHARS = 300;

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
