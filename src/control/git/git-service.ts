/** Git in a sandbox: the agent runs the sandbox's own git; credentials stay with the service. */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { type Load, Shares } from '../../fairness/shares.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { GitRemote } from '../../model/git/remote.ts';
import type { GitUrl } from '../../model/git/url.ts';
import { limits } from '../../model/limits.ts';
import { WORKSPACE } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type { HeldKeys } from '../base/held-keys.ts';
import type { AgentLink, AsUser, CallOptions, GitCredentialStore, GitGateway } from '../ports/index.ts';
import type { ProviderRemotes } from '../provider/remotes.ts';
import type { Environments } from '../reach/environment.ts';
import { type SandboxUses, userOf } from '../work/sandbox-uses.ts';
import { type Cloned, clone } from './clone.ts';
import { type Added, add, type CommitRequest, commit } from './commit.ts';
import { named } from './faults.ts';
import type { GitCommit, GitStatus } from './formats.ts';
import { Git, type GitPlace } from './git.ts';
import { type Branches, branches, log, status } from './inspect.ts';
import { type Pulled, type Pushed, pull, push } from './pull.ts';
import type { Login, RemoteDependencies } from './remote.ts';
import { type Checkout, checkout, createBranch, deleteBranch } from './switch.ts';

/** Place of a call. */
export interface Repository {
  caller: User;
  sandbox: string | undefined;
  /** A folder of the repository; without it the base of relative paths, or the only repository beneath it. */
  path?: string;
}

/** Adds the repository's folder, relative to the base of relative paths, when the service had to find it. */
export type Located<T> = T & { repository?: string };

export interface CloneParameters {
  remote: GitRemote;
  path: string;
  branch?: string;
  commitId?: string;
  username?: string;
  password?: string;
}

export interface GitServiceDependencies {
  uses: SandboxUses;
  agent: AgentLink;
  environments: Environments;
  gateway: GitGateway;
  credentials: GitCredentialStore;
  held: Pick<HeldKeys, 'take'>;
  /** null without a configured code-hosting provider. */
  provider: ProviderRemotes | null;
}

/** User name for providers that check the token alone. */
const ANY_USERNAME = 'git';

export class GitService {
  readonly #parts: GitServiceDependencies;
  /**
   * Destinations of running clones of this process: a failed clone must remove only its own files. `held` is for those of
   * other replicas.
   */
  readonly #cloning = new Set<string>();
  readonly #proxies = new Shares({
    total: limits.git.proxies,
    perOwner: limits.git.proxiesPerOwner,
    what: 'operations on Git remotes are in progress',
  });

  constructor(parts: GitServiceDependencies) {
    this.#parts = parts;
  }

  /** Operations on remotes in progress. */
  get load(): Load {
    return this.#proxies;
  }

  clone(
    place: Omit<Repository, 'path'>,
    { username, password, ...request }: CloneParameters,
    options: CallOptions,
  ): Promise<Cloned> {
    const { url } = request.remote;
    const atProvider = url !== null && (this.#parts.provider?.owns(url) ?? false);
    const login = atProvider ? null : loginOf(url, username, password);
    return this.#in({ ...place, path: '.' }, options, (git) =>
      this.#alone(git.place.sandboxId, destinationOf(request.path, git.place), () =>
        clone(git, this.#remoteParts(place, options), { ...request, login }),
      ),
    );
  }

  status(at: Repository, options: CallOptions): Promise<Located<GitStatus>> {
    return this.#in(at, options, status);
  }

  add(at: Repository, files: string[], options: CallOptions): Promise<Located<Added>> {
    return this.#in(at, options, (git) => add(git, files));
  }

  commit(
    at: Repository,
    request: CommitRequest,
    options: CallOptions,
  ): Promise<Located<{ sha: string; branch: string | null }>> {
    return this.#in(at, options, (git) => commit(git, request));
  }

  branches(at: Repository, options: CallOptions): Promise<Located<Branches>> {
    return this.#in(at, options, branches);
  }

  checkout(at: Repository, ref: string, options: CallOptions): Promise<Located<Checkout>> {
    return this.#in(at, options, (git) => checkout(git, ref));
  }

  /** @param parameter The caller's name for the branch name. */
  createBranch(
    at: Repository,
    request: { name: string; parameter: string; start?: string },
    options: CallOptions,
  ): Promise<Located<object>> {
    return this.#in(at, options, async (git) => {
      await createBranch(git, request.name, request.parameter, request.start);
      return {};
    });
  }

  deleteBranch(
    at: Repository,
    request: { branch: string; force: boolean },
    options: CallOptions,
  ): Promise<Located<object>> {
    return this.#in(at, options, async (git) => {
      await deleteBranch(git, request.branch, request.force);
      return {};
    });
  }

  log(
    at: Repository,
    request: { maxCount: number; branch?: string },
    options: CallOptions,
  ): Promise<Located<{ commits: GitCommit[]; truncated: boolean }>> {
    return this.#in(at, options, (git) => log(git, request));
  }

  pull(at: Repository, branch: string | undefined, options: CallOptions): Promise<Located<Pulled>> {
    return this.#in(at, options, (git) => pull(git, this.#remoteParts(at, options), branch));
  }

  push(
    at: Repository,
    request: { branch?: string; force: boolean },
    options: CallOptions,
  ): Promise<Located<Pushed>> {
    return this.#in(at, options, (git) => push(git, this.#remoteParts(at, options), request));
  }

  #in<T extends object>(
    at: Repository,
    { signal }: CallOptions,
    work: (git: Git) => Promise<T>,
  ): Promise<Located<T>> {
    const { uses, agent, environments } = this.#parts;
    return uses.run(at.caller, at.sandbox, async (sandbox) => {
      const user = userOf(sandbox);
      const env = await environments.of(sandbox, { user });
      const git = new Git({ agent, sandboxId: sandbox.id, user, env, signal }, at.path ?? '.');
      try {
        return await work(git);
      } catch (error) {
        if (at.path !== undefined || !saysNoRepository(error)) throw error;
        const repository = await onlyRepository(git.place, error);
        return { ...(await work(git.at(repository))), repository };
      }
    });
  }

  async #alone<T>(sandboxId: string, folder: string, work: () => Promise<T>): Promise<T> {
    const destination = `${sandboxId} ${folder}`;
    if (this.#cloning.has(destination)) throw underWay();
    this.#cloning.add(destination);
    try {
      const release = await this.#parts.held.take(sandboxId, cloneKey(folder));
      if (!release) throw underWay();
      return await work().finally(release);
    } finally {
      this.#cloning.delete(destination);
    }
  }

  #remoteParts(
    { caller }: Pick<Repository, 'caller'>,
    { onProgress = () => {} }: CallOptions,
  ): RemoteDependencies {
    const { gateway, credentials, provider } = this.#parts;
    return { gateway, credentials, provider, caller, onProgress, proxies: this.#proxies };
  }
}

/** Paths of a user begin in a home that the agent alone knows: the usual place of homes stands for it. */
function destinationOf(path: string, { user }: AsUser): string {
  if (user === undefined) return posix.resolve(WORKSPACE, path);
  const home = user === 'root' ? '/root' : `/home/${user}`;
  return posix.resolve(home, path.replace(/^~(?=\/|$)/, '.'));
}

/** Hashed: a path may be longer than the entry of an index in PostgreSQL, 2,704 bytes. */
function cloneKey(folder: string): string {
  return `clone into ${createHash('sha256').update(folder).digest('hex')}`;
}

function underWay(): SandhavenError {
  return new SandhavenError('already_exists', 'Another clone into this folder is under way.', {
    parameter: 'path',
    hint: 'Give another path, or wait for the other call.',
  });
}

/** Returns null without credentials. */
function loginOf(
  url: GitUrl | null,
  username: string | undefined,
  password: string | undefined,
): Login | null {
  if (username === undefined && password === undefined) return null;
  if (url?.scheme === 'http' || url?.scheme === 'https') {
    return { username: username ?? url.user ?? ANY_USERNAME, password: password ?? '' };
  }
  throw new SandhavenError(
    'invalid_argument',
    `${url ? `A remote over ${url.scheme}` : 'A repository in the sandbox'} takes no username and password.`,
    {
      parameter: username === undefined ? 'password' : 'username',
      hint: 'Use the https URL of the repository, or a key that is set up in the sandbox.',
    },
  );
}

/** Returns true for an error that reports a missing repository at the folder. */
function saysNoRepository(error: unknown): error is SandhavenError {
  return (
    error instanceof SandhavenError &&
    error.code === 'failed_precondition' &&
    error.fields.parameter === 'path'
  );
}

/**
 * Returns the folder of the only repository beneath the base of relative paths, relative to it.
 * Rejects with `refusal` when there is none, and with an error that names them when there are several.
 */
async function onlyRepository(
  { agent, sandboxId, user, signal }: GitPlace,
  refusal: SandhavenError,
): Promise<string> {
  const query = { user, path: '.', pattern: '.git', maxItems: limits.maxItems.max, offset: 0 };
  const { items } = await agent.find(sandboxId, query, signal);
  const folders = outermost(items.map((path) => posix.dirname(path)));
  const [only] = folders;
  if (only === undefined) throw refusal;
  if (folders.length === 1) return only;
  throw new SandhavenError(
    'failed_precondition',
    `There is no Git repository at ${user === undefined ? WORKSPACE : '~'}, and several beneath it: ${named(folders)}.`,
    { parameter: 'path', hint: 'Give one of them as path.' },
  );
}

/** Drops submodules and vendored repositories, which lie inside others. */
function outermost(folders: string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));
}
