/** Clones into a new or empty folder; a failed clone leaves nothing. */
import { SandhavenError } from '../../model/errors.ts';
import type { GitRemote } from '../../model/git/remote.ts';
import { limits } from '../../model/limits.ts';
import type { GitAccess } from '../ports/index.ts';
import { noSuchBranch, quoted } from './faults.ts';
import type { Git, GitPlace } from './git.ts';
import {
  accessWith,
  type Configuration,
  configuration,
  type Login,
  type RemoteDependencies,
  type RunRemote,
  remoteLacks,
  unreachable,
  withRemote,
} from './remote.ts';

export interface CloneRequest {
  remote: GitRemote;
  /** Destination. */
  path: string;
  branch?: string;
  commitId?: string;
  login: Login | null;
}

export interface Cloned {
  /** null when a tag or a commit is checked out. */
  branch: string | null;
  /** null when the repository has no commits. */
  sha: string | null;
}

const REMOVAL_TRIES = 5;
const REMOVAL_PAUSE_MS = 200;

/** Clones; `git` runs where relative paths begin. */
export async function clone(git: Git, parts: RemoteDependencies, request: CloneRequest): Promise<Cloned> {
  const { remote, login, path } = request;
  const { sandboxId } = git.place;
  await refuseTooManyLogins(parts, sandboxId, request);
  const purpose = { service: 'git-upload-pack' } as const;
  const access = await accessWith(parts, login, remote.url, purpose);
  const made = await makeFolder(git.place, path);
  try {
    const inside = git.at(path);
    const config: Configuration = access === null ? await configurationToBe(inside, request) : new Map();
    const operation = { remote, access, config, purpose, doing: 'Cloning from' };
    await withRemote(inside, parts, operation, (run) => cloneInto(inside, run, request, access));
    if (login && remote.url) await parts.credentials.put({ sandboxId, url: remote.url.key, ...login });
    return { branch: await inside.branch(), sha: await inside.commit('HEAD') };
  } catch (error) {
    await undo(git.place, path, made);
    throw error;
  }
}

/**
 * Returns what git will be configured with in the clone. Conditions of `includeIf` hold in a repository alone, so where
 * there are any, the empty folder is one for a moment.
 */
async function configurationToBe(git: Git, { remote, path }: CloneRequest): Promise<Configuration> {
  const around = await configuration(git.at('/'));
  if (![...around.keys()].some((key) => key.startsWith('includeif.'))) return around;
  const { agent, sandboxId, user } = git.place;
  try {
    await git.run(['init', '--quiet', '--template=']);
    await git.run(['remote', 'add', '--', 'origin', remote.text]);
    return await configuration(git);
  } finally {
    await agent.remove(sandboxId, { user, path: `${path}/.git`, recursive: true }).catch(unlessGone);
  }
}

async function cloneInto(
  git: Git,
  run: RunRemote,
  request: CloneRequest,
  access: GitAccess | null,
): Promise<void> {
  const { remote, branch } = request;
  const chosen = branch === undefined ? [] : ['--branch', branch];
  const cloned = await run(git, [
    'clone',
    '--quiet',
    '--origin',
    'origin',
    ...chosen,
    '--',
    remote.text,
    '.',
  ]);
  if (cloned.exitCode !== 0) {
    const refs = [`refs/heads/${branch}`, `refs/tags/${branch}`];
    if (branch !== undefined && (await remoteLacks(git.at('/'), run, remote.text, refs))) {
      throw noSuchBranch(branch, 'at the remote');
    }
    throw unreachable(cloned, remote, access);
  }
  if (request.commitId !== undefined) await checkOut(git, run, request.commitId);
}

/** Checks out the commit; the branch stays checked out when the commit is its head already. */
async function checkOut(git: Git, run: RunRemote, commitId: string): Promise<void> {
  let commit = await git.commit(commitId);
  if (commit === null) {
    // No branch or tag leads to the commit; some remotes serve it by its full hash.
    await run(git, ['fetch', '--quiet', '--', 'origin', commitId]);
    commit = await git.commit(commitId);
  }
  if (commit === null) {
    throw new SandhavenError('not_found', `The repository has no commit ${quoted(commitId)}.`, {
      parameter: 'commit_id',
      resource: 'commit',
      hint: 'Leave commit_id out, and look for it with Sandbox.GitLog.',
    });
  }
  if (commit === (await git.commit('HEAD'))) return;
  const { exitCode, complaint } = await git.run(['checkout', '--quiet', '--detach', commit, '--']);
  if (exitCode === 0) return;
  throw new SandhavenError(
    'failed_precondition',
    `The commit could not be checked out. Git says: ${complaint}`,
  );
}

async function refuseTooManyLogins(
  { credentials }: RemoteDependencies,
  sandboxId: string,
  { remote: { url }, login }: CloneRequest,
): Promise<void> {
  if (login === null || url === null || (await credentials.count(sandboxId)) < limits.git.credentials) return;
  if (await credentials.get(sandboxId, url.key)) return;
  throw new SandhavenError(
    'resource_exhausted',
    `The sandbox already stores the credentials of ${limits.git.credentials} remotes.`,
    { hint: 'Clone into another sandbox, or without username and password.' },
  );
}

/** Returns the folders it created, outermost first; none when the destination existed and was empty. */
async function makeFolder(place: GitPlace, path: string): Promise<string[]> {
  const { agent, sandboxId, user } = place;
  const taken = new SandhavenError('already_exists', `${quoted(path)} is there already, and not empty.`, {
    parameter: 'path',
    hint: 'Give another path, or delete what is there with Sandbox.DeleteFile.',
  });
  const made: string[] = [];
  for (let folder = path; folder !== ''; folder = parentOf(folder)) {
    if (await isThere(place, folder)) break;
    made.unshift(folder);
  }
  const { created } = await agent
    .createFolder(sandboxId, { user, path, mode: 0o755 })
    .catch((error: unknown) => {
      throw error instanceof SandhavenError && error.code === 'already_exists' ? taken : error;
    });
  if (created) return made.length > 0 ? made : [path];
  const { totalCount } = await agent.list(sandboxId, { user, path, maxItems: 1, offset: 0 });
  if (totalCount > 0) throw taken;
  return [];
}

async function isThere({ agent, sandboxId, user }: GitPlace, path: string): Promise<boolean> {
  try {
    await agent.stat(sandboxId, { user, path });
    return true;
  } catch (error) {
    if (error instanceof SandhavenError && error.code === 'not_found') return false;
    throw error;
  }
}

function parentOf(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(0, Math.max(0, trimmed.lastIndexOf('/')));
}

/** Removes a failed clone, and leaves the first error to be reported. A killed git may take a moment to be gone. */
async function undo(place: GitPlace, path: string, made: string[]): Promise<void> {
  const { agent, sandboxId, user } = place;
  for (let tries = 0; tries < REMOVAL_TRIES; tries++) {
    try {
      if (made.length === 0) await empty(place, path);
      else await agent.remove(sandboxId, { user, path, recursive: true }).catch(unlessGone);
      break;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, REMOVAL_PAUSE_MS));
    }
  }
  for (const folder of made.slice(0, -1).reverse()) {
    await agent.remove(sandboxId, { user, path: folder, recursive: false }).catch(() => {});
  }
}

async function empty(place: GitPlace, path: string): Promise<void> {
  const { agent, sandboxId, user } = place;
  const { items } = await agent.list(sandboxId, { user, path, maxItems: limits.maxItems.max, offset: 0 });
  for (const { name } of items) {
    await agent.remove(sandboxId, { user, path: `${path}/${name}`, recursive: true }).catch(unlessGone);
  }
  if (items.length > 0) await empty(place, path);
}

function unlessGone(error: unknown): void {
  if (!(error instanceof SandhavenError && error.code === 'not_found')) throw error;
}
