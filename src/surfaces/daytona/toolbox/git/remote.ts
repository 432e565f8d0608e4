/** Cloning, pulling and pushing, and the remotes of a repository. */
import { invalidArgument } from '../../../../model/errors.ts';
import type { DaytonaCall, DaytonaRoute } from '../../base/call.ts';
import { NotHere } from '../../base/errors.ts';
import { failureOf, git, neededIn, revisionIn, runGit, runShell, textIn } from './program.ts';

export const remoteRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: '/git/clone', handler: clone },
  {
    method: 'POST',
    path: '/git/pull',
    async handler(call) {
      const { path, branch } = call.body;
      if (!isSpecial(call)) await call.tool('Sandbox.GitPull', { ...call.params, path, branch });
      else await runAtRemote(call, ['pull', '--no-rebase', '--no-edit', '--', ...namedIn(call)]);
    },
  },
  {
    method: 'POST',
    path: '/git/push',
    async handler(call) {
      const { path, branch, set_upstream } = call.body;
      // The tool makes a branch track what it is pushed to, unless it tracks another.
      if (!isSpecial(call)) await call.tool('Sandbox.GitPush', { ...call.params, path, branch });
      else {
        const [remote = 'origin', pushed = 'HEAD'] = namedIn(call);
        await runAtRemote(call, [
          'push',
          ...(set_upstream === true ? ['--set-upstream'] : []),
          '--',
          remote,
          pushed,
        ]);
      }
    },
  },
  {
    method: 'GET',
    path: '/git/remotes',
    async handler(call) {
      const place = { path: call.query['path'] };
      const args = ['config', '--local', '-z', '--get-regexp', '^remote\\..*\\.url$'];
      const run = await runGit(call, args, place);
      // 1: there are none.
      if (run.exitCode > 1) throw failureOf(run);
      return { remotes: remotesOf(run.stdout) };
    },
  },
  {
    method: 'POST',
    path: '/git/remotes',
    status: 201,
    async handler(call) {
      const place = { path: neededIn(call.body, 'path') };
      const [name, url] = [neededIn(call.body, 'name'), neededIn(call.body, 'url')];
      const { overwrite, fetch } = call.body;
      const isChanged =
        overwrite === true &&
        (await runGit(call, ['remote', 'set-url', '--', name, url], place)).exitCode === 0;
      if (!isChanged) await git(call, ['remote', 'add', '--', name, url], place);
      if (fetch === true) await git(call, ['fetch', '--quiet', '--', name], place);
    },
  },
  { method: 'POST', path: '/git/credentials', handler: keepCredentials },
];

async function clone({ tool, params, body }: DaytonaCall): Promise<void> {
  const { url, path, branch, commit_id, username, password, insecure_skip_tls, depth } = body;
  if (insecure_skip_tls === true) throw new NotHere('Certificates of Git servers are always checked.');
  if (depth !== undefined && depth !== null && depth !== 0) {
    throw new NotHere('A clone has the whole history: depth must be left out.');
  }
  await tool('Sandbox.GitClone', { ...params, url, path, branch, commit_id, username, password });
}

/** Our tools take the credentials of the clone, and the remote that a branch tracks. */
function isSpecial({ body }: DaytonaCall): boolean {
  return ['username', 'password', 'remote'].some((parameter) => textIn(body, parameter) !== undefined);
}

/** Returns the remote and the branch, where one of them is named. */
function namedIn({ body }: DaytonaCall): string[] {
  const [remote, branch] = [textIn(body, 'remote'), revisionIn(body, 'branch')];
  if (branch !== undefined) return [remote ?? 'origin', branch];
  return remote === undefined ? [] : [remote];
}

/** Answers git's question for a login from the environment, so that it stands neither in a file nor in a command line. */
const helper =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$GIT_LOGIN_USERNAME" "$GIT_LOGIN_PASSWORD"; }; f';

async function runAtRemote(call: DaytonaCall, args: string[]): Promise<void> {
  const [username, password] = [textIn(call.body, 'username'), textIn(call.body, 'password')];
  const path = neededIn(call.body, 'path');
  if (username === undefined && password === undefined) await git(call, args, { path });
  else {
    const env = { GIT_LOGIN_USERNAME: username ?? 'git', GIT_LOGIN_PASSWORD: password ?? '' };
    await git(call, ['-c', 'credential.helper=', '-c', `credential.helper=${helper}`, ...args], {
      path,
      env,
    });
  }
}

/** Git prints a key, a line end, its value and a NUL for each. Of several URLs of a remote the first is the one it reads from. */
function remotesOf(printed: string): { name: string; url: string }[] {
  const remotes = new Map<string, string>();
  for (const entry of printed.split('\0')) {
    const [, name, url] = /^remote\.(.*)\.url\n(.*)$/s.exec(entry) ?? [];
    if (name !== undefined && url !== undefined && !remotes.has(name)) remotes.set(name, url);
  }
  return [...remotes].map(([name, url]) => ({ name, url }));
}

/** Keeps them in the sandbox in plain text, as their clients say of it. */
async function keepCredentials(call: DaytonaCall): Promise<void> {
  const { body } = call;
  const [username, password] = [neededIn(body, 'username'), neededIn(body, 'password')];
  const [protocol, host] = [textIn(body, 'protocol') ?? 'https', textIn(body, 'host') ?? 'github.com'];
  const lines = Object.entries({ protocol, host, username, password }).map(([name, value]) => {
    // Git's protocol has no way to write a line end.
    if (/[\r\n]/.test(value)) throw invalidArgument(name, `${name} must be one line.`);
    return `${name}=${value}`;
  });
  const command =
    'git config --global --replace-all credential.helper store && printf "%s\\n\\n" "$GIT_LOGIN" | git credential approve';
  const run = await runShell(call, command, { env: { GIT_LOGIN: lines.join('\n') } });
  if (run.exitCode !== 0) throw failureOf(run);
}
