/**
 * Runs git against a remote. Without credentials git connects by itself, over the sandbox's own network. With
 * credentials, and to the code-hosting provider, it goes through a proxy of the gateway: git connects to a port of its
 * own loopback in place of exactly this URL, and the URL stays unchanged in the repository's configuration.
 */

import type { Shares } from '../../fairness/shares.ts';
import { SandhavenError } from '../../model/errors.ts';
import { configuredRemote, type GitRemote } from '../../model/git/remote.ts';
import type { GitUrl } from '../../model/git/url.ts';
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type {
  GitAccess,
  GitCredentialStore,
  GitGateway,
  GitProxy,
  GitPurpose,
  OnProgress,
} from '../ports/index.ts';
import type { ProviderRemotes } from '../provider/remotes.ts';
import { failureOf, quoted } from './faults.ts';
import { parseConfig } from './formats.ts';
import type { Git, GitConfig, GitRun } from './git.ts';

export interface Login {
  username: string;
  password: string;
}

/** Dependencies of a remote operation beside git. */
export interface RemoteDependencies {
  gateway: GitGateway;
  /** Of the gateway's proxies, by owner. */
  proxies: Shares;
  credentials: GitCredentialStore;
  /** null without a configured code-hosting provider. */
  provider: ProviderRemotes | null;
  /** User whose authorization at the provider counts. */
  caller: User;
  onProgress: OnProgress;
}

export interface RemoteOperation {
  remote: Remote;
  /** null: git reaches it by itself. Never given for a remote without a URL. */
  access: GitAccess | null;
  /** Git's configuration there, where it reaches the remote by itself. */
  config: Configuration;
  purpose: GitPurpose;
  /** Words of the progress messages, before the remote's URL. */
  doing: string;
}

/** A remote as its user names it. */
export type Remote = Pick<GitRemote, 'text' | 'url' | 'shown'>;

/** Runs one git command that contacts the remote. */
export type RunRemote = (git: Git, args: string[]) => Promise<GitRun>;

const PROGRESS_INTERVAL_MS = 1_000;

/**
 * Keeps the connection to the remote open while `work` runs. The gateway's own failure, when there is one, replaces
 * git's error.
 */
export async function withRemote<T>(
  git: Git,
  parts: RemoteDependencies,
  operation: RemoteOperation,
  work: (run: RunRemote) => Promise<T>,
): Promise<T> {
  const { remote, access, purpose, doing, config } = operation;
  const { url, shown } = remote;
  parts.onProgress({ message: `${doing} ${shown}` });
  const timeoutMs = limits.git.networkMs;
  if (access === null || url === null) {
    const env = sshDefaults(git.place.env, config);
    return work((from, args) => from.run(args, { timeoutMs, env }));
  }
  const leave = parts.proxies.take(parts.caller.id);
  try {
    return await throughProxy(git, parts, { url, access, purpose, message: `${doing} ${shown}` }, work);
  } finally {
    leave();
  }
}

interface ProxiedOperation {
  url: GitUrl;
  access: GitAccess;
  purpose: GitPurpose;
  /** Text of the progress messages. */
  message: string;
}

async function throughProxy<T>(
  git: Git,
  parts: RemoteDependencies,
  { url, access, purpose, message }: ProxiedOperation,
  work: (run: RunRemote) => Promise<T>,
): Promise<T> {
  const timeoutMs = limits.git.networkMs;
  const { agent, sandboxId, signal } = git.place;
  const proxy = await parts.gateway.open(url, access, purpose, { owner: parts.caller.id, signal });
  const reports = reporting(proxy, parts.onProgress, message);
  try {
    const listener = await agent.listenPort(sandboxId, { port: 0 }, (made) => proxy.accept(made), signal);
    try {
      const config = rewriting(url, listener.port, proxy.nonce);
      const result = await work(async (from, args) => {
        // The proxy asks for nothing, so nothing inside is asked.
        const run = await from.run(args, { timeoutMs, config, env: { GIT_ASKPASS: '' } });
        if (run.exitCode !== 0 && proxy.failure) throw proxy.failure;
        return run;
      });
      return result;
    } finally {
      listener.close();
    }
  } finally {
    clearInterval(reports);
    proxy.close();
  }
}

/** The more specific settings of a repository lose to these, since no URL is more specific than the proxy's. */
function rewriting(url: GitUrl, port: number, nonce: string): GitConfig {
  const local = `http://127.0.0.1:${port}/${nonce}/`;
  return [
    [`url.${local}.insteadOf`, url.text],
    [`url.${local}.pushInsteadOf`, url.text],
    ['http.proxy', ''],
    [`http.${local}.proxy`, ''],
    [`http.${local}.extraHeader`, ''],
    [`http.${local}.cookieFile`, ''],
    [`http.${local}.followRedirects`, 'false'],
    [`http.${local}.emptyAuth`, 'false'],
    ['credential.helper', ''],
  ];
}

/**
 * An ssh that asks nobody, and takes the key of a host that it sees first, unless the sandbox says which ssh git uses:
 * this variable would win over all of that. One with a program that asks for passwords may use it.
 */
function sshDefaults(env: Record<string, string>, config: Configuration): Record<string, string> {
  if ('GIT_SSH_COMMAND' in env || 'GIT_SSH' in env || config.has('core.sshcommand')) return {};
  const batch = 'SSH_ASKPASS' in env ? 'no' : 'yes';
  const connectSeconds = limits.git.connectMs / 1_000;
  return {
    GIT_SSH_COMMAND: `ssh -oBatchMode=${batch} -oStrictHostKeyChecking=accept-new -oConnectTimeout=${connectSeconds}`,
  };
}

function reporting(proxy: GitProxy, onProgress: OnProgress, message: string): NodeJS.Timeout {
  let reported = 0;
  return setInterval(() => {
    if (proxy.received === reported) return;
    reported = proxy.received;
    onProgress({ message: `${message}, ${(reported / 1_000_000).toFixed(1)} MB received` });
  }, PROGRESS_INTERVAL_MS).unref();
}

export type Configuration = Map<string, string[]>;

export async function configuration(git: Git): Promise<Configuration> {
  const run = await git.run(['config', '--null', '--list']);
  if (run.exitCode !== 0) throw await failureOf(git, run, 'The configuration could not be read.');
  return parseConfig(run.stdout);
}

/** Returns the URL that git itself would use, before any rewriting. */
export function remoteOf(config: Configuration, name: string, push: boolean): Remote {
  const url =
    (push ? config.get(`remote.${name}.pushurl`)?.[0] : undefined) ?? config.get(`remote.${name}.url`)?.[0];
  if (url === undefined || name.startsWith('-')) {
    throw new SandhavenError('failed_precondition', `The repository has no remote ${quoted(name)}.`, {
      hint: 'Add one with Sandbox.RunCommand: git remote add origin <url>.',
    });
  }
  return configuredRemote(url);
}

/** At the provider what counts is the caller's authorization there, whatever else was given. */
export async function accessWith(
  parts: RemoteDependencies,
  login: Login | null,
  url: GitUrl | null,
  purpose: GitPurpose,
): Promise<GitAccess | null> {
  const { provider, caller } = parts;
  if (url === null) return null;
  if (provider?.owns(url)) return provider.access(caller, url, purpose);
  return login && { login };
}

/** Credentials are found for the very repository that they were given for, and for no other. */
export async function accessFor(
  parts: RemoteDependencies,
  sandboxId: string,
  { url }: Remote,
  purpose: GitPurpose,
): Promise<GitAccess | null> {
  if (url === null) return null;
  const takesLogin = url.scheme === 'http' || url.scheme === 'https';
  const login = takesLogin ? await parts.credentials.get(sandboxId, url.key) : null;
  return accessWith(parts, login, url, purpose);
}

/** Of a command that failed although no gateway knows why. */
export function unreachable(run: GitRun, { url, shown }: Remote, access: GitAccess | null): SandhavenError {
  const words = run.complaint === '' ? '' : ` Git says: ${run.complaint}`;
  const web = url?.scheme === 'http' || url?.scheme === 'https';
  return new SandhavenError('failed_precondition', `The remote at ${shown} could not be used.${words}`, {
    hint:
      access === null && web
        ? 'Check the URL. A private repository needs username and password, given to Sandbox.GitClone.'
        : 'Check the URL, and what the repository says with Sandbox.RunCommand.',
  });
}

/** Returns true when the remote is readable and has none of the refs: `ls-remote` exits with 2. */
export async function remoteLacks(
  git: Git,
  run: RunRemote,
  remote: string,
  refs: string[],
): Promise<boolean> {
  const listed = await run(git, ['ls-remote', '--quiet', '--exit-code', '--', remote, ...refs]);
  return listed.exitCode === 2;
}
