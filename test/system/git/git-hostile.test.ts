/**
 * A sandbox whose root does what it can to get at the credentials of a remote: git replaced and traced, hooks,
 * configuration, and whatever can be asked of the door while it is open. The password is searched for everywhere.
 */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import { call, must, type Service, startService } from '../../support/service.ts';
import { filesWrittenSince } from './written-files.ts';

const user = { username: 'ada', password: 'canary-6f1ed002ab55' };
const encoded = Buffer.from(`${user.username}:${user.password}`).toString('base64');
const author = { author_name: 'Ada', author_email: 'ada@example.org' };
const begun = new Date();
let service: Service;
let remote: GitServer;

beforeAll(async () => {
  remote = await startGitServer(user);
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box', disk_gb: 1 });
  await run('mv /usr/bin/git /usr/bin/git.real');
  await ok('WriteFile', { path: '/usr/bin/git', content: TRACING_GIT });
  await run('chmod 755 /usr/bin/git');
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
});

beforeEach(() => {
  remote.requests.length = 0;
});

type Parameters = Record<string, unknown>;
const problems: unknown[] = [];
const ok = (tool: string, parameters: Parameters = {}) => must(service, tool, parameters);
const attempt = async (tool: string, parameters: Parameters) => {
  const { body } = await call(service, tool, parameters);
  problems.push(body);
  return body;
};
const run = async (command: string) =>
  String((await ok('RunCommand', { command, timeout_seconds: 120 }))['stdout']);

/** The sandbox's files that hold one of the words, and the lines of its processes' environments and commands that do. */
async function found(...words: string[]): Promise<string> {
  // Turned round, so that the search does not find itself among the processes.
  const turned = words.map((word) => `'${[...word].reverse().join('')}'`).join(' ');
  return run(`words=$(mktemp /dev/shm/words.XXXXXX); printf '%s\\n' ${turned} | rev > $words
    ${filesWrittenSince(begun)} | grep -zv '^/dev/shm/words' | xargs -0 -r grep -laF -f $words 2>/dev/null
    for p in /proc/[0-9]*; do cat $p/environ $p/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -aF -f $words; done; true`);
}

describe('[WIRE-GIT-14] credentials never enter the sandbox', () => {
  it('would be found if they did', async () => {
    await run(
      `printf 'x%sy' probe-in-file > /tmp/probe; nohup env PROBE=probe-in-environment sleep 60 >/dev/null 2>&1 &`,
    );
    expect(await found('probe-in-file')).toContain('/tmp/probe');
    expect(await found('probe-in-environment')).toContain('PROBE=');
  });

  it('a replaced git that notes its input, and asks the door for more, sees none', async () => {
    const url = remote.create('project', { a: 'a\n' });
    remote.create('other', { secret: 'do not read\n' });
    await ok('GitClone', { url, ...user });
    const asked = remote.requests.map(({ method, url: path }) => `${method} ${path}`);
    expect(new Set(asked)).toEqual(
      new Set(['GET /project.git/info/refs?service=git-upload-pack', 'POST /project.git/git-upload-pack']),
    );
    const answers = await run('cat /tmp/answers');
    expect(answers.match(/^403 /gm)?.length).toBeGreaterThanOrEqual(6);
    expect(answers).not.toContain('do not read');
    expect(await run('cat /tmp/seen')).toContain('insteadOf');
    expect(await found(user.password, encoded)).toBe('');
  });

  it('the door is shut when the operation is over', async () => {
    const doors = (await run('cat /tmp/doors')).trim().split('\n');
    expect(doors.length).toBeGreaterThan(0);
    for (const door of doors) {
      expect(
        await run(
          `curl -s -o /dev/null -w '%{http_code}' '${door}info/refs?service=git-upload-pack' || true`,
        ),
      ).toBe('000');
    }
  });

  it('a push changes the branch that was asked for, whatever git inside tries besides', async () => {
    await ok('WriteFile', { path: 'project/b', content: 'b\n' });
    await ok('GitAdd', { path: 'project', files: ['.'] });
    const { sha } = await ok('GitCommit', { path: 'project', message: 'b', ...author });
    await run('touch /tmp/steal');
    await attempt('GitPush', { path: 'project' });
    await run('rm /tmp/steal');
    expect(await run('cat /tmp/stolen')).toContain('failed');
    expect(remote.git('project', 'for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/main');
    await ok('GitPush', { path: 'project' });
    expect(remote.git('project', 'rev-parse', 'main').trim()).toBe(sha);
    expect(await found(user.password, encoded)).toBe('');
  });

  it('hooks and templates see none', async () => {
    await run(`mkdir -p /tmp/template/hooks && for hook in post-checkout pre-push post-merge pre-commit reference-transaction; do
      printf '#!/bin/sh\\nenv >> /tmp/hooked; cat /proc/*/environ /proc/*/cmdline >> /tmp/hooked 2>/dev/null; true\\n' > /tmp/template/hooks/$hook
      chmod +x /tmp/template/hooks/$hook; done; git.real config --global init.templateDir /tmp/template`);
    const url = remote.create('hooked', { a: 'a\n' });
    await ok('GitClone', { url, ...user });
    remote.commit('hooked', { b: 'b\n' });
    await ok('GitPull', { path: 'hooked' });
    await ok('WriteFile', { path: 'hooked/c', content: 'c\n' });
    await ok('GitAdd', { path: 'hooked', files: ['.'] });
    await ok('GitCommit', { path: 'hooked', message: 'c', ...author });
    await ok('GitPush', { path: 'hooked' });
    expect(await run('test -s /tmp/hooked && echo ran')).toBe('ran\n');
    expect(await found(user.password, encoded)).toBe('');
  });

  describe('configuration', () => {
    // The git before these has asked the door for more with each fetch and push.
    beforeAll(() => run('touch /tmp/quiet'));

    it.each([
      ['a proxy', 'http.proxy http://127.0.0.1:9'],
      ['a proxy of the door', 'http.http://127.0.0.1.proxy http://127.0.0.1:9'],
      ['a header', 'http.extraHeader "Authorization: Basic c3RvbGVu"'],
      ['another place', 'url.http://127.0.0.1:9/.insteadOf http://127.0.0.1'],
      ['another place to push to', 'url.http://127.0.0.1:9/.pushInsteadOf http://'],
      ['a helper', 'credential.helper "!tee -a /tmp/helped; true"'],
      ['cookies', 'http.cookieFile /etc/passwd'],
      ['another ssh', 'core.sshCommand "touch /tmp/ran; false"'],
    ])('with %s sees none', async (_what, setting) => {
      const [key = ''] = setting.split(' ');
      await run(`git.real config --global ${setting}`);
      const url = remote.create(`configured-${_what.replaceAll(' ', '-')}`, { a: 'a\n' });
      const result = await attempt('GitClone', { url, ...user });
      if (result['code'] === undefined) await attempt('GitPull', { path: result['path'] });
      await run(`git.real config --global --unset ${key}`);
      for (const { headers } of remote.requests) expect(headers.authorization).toBe(`Basic ${encoded}`);
      // None of these keeps an honest clone from working.
      expect(result).toMatchObject({ branch: 'main' });
    });

    it('leaves none behind', async () => {
      expect(await found(user.password, encoded)).toBe('');
    });
  });

  it('a remote that was changed inside finds none', async () => {
    const url = remote.create('elsewhere', { a: 'a\n' });
    await run(`git.real -C project config remote.origin.url ${url}`);
    await attempt('GitPull', { path: 'project' });
    expect(remote.requests).toEqual([]);
  });
});

it('[WIRE-GIT-14] and they are in no log, no error, and nothing that the service keeps', async () => {
  for (const parameters of [
    { url: `http://ada:${user.password}@127.0.0.1:${remote.port}/project.git` },
    { url: `${remote.url}/none.git`, ...user },
    { url: 'ssh://git@127.0.0.1/a', ...user },
    { url: `${remote.url}/project.git`, ...user, path: 'project' },
    { url: `${remote.url}/project.git`, username: 'a:b', password: user.password },
    { url: `${remote.url}/project.git`, username: 'ada', password: `${user.password}\n` },
    { url: 'http://127.0.0.1:1/a', ...user },
    { url: [user.password], ...user },
  ]) {
    expect(await attempt('GitClone', parameters)).toHaveProperty('code');
  }
  expect(JSON.stringify(problems)).not.toContain(user.password);
  expect(service.log()).not.toContain(user.password);
  await service.terminate();
  // What holds no sandbox is left out: unpacked images, and disks that nobody has used.
  const grep = spawnSync(
    'grep',
    [
      '-rlaF',
      '--exclude-dir=images',
      '--exclude-dir=pool',
      '-e',
      user.password,
      '-e',
      encoded,
      service.dataDir,
    ],
    { encoding: 'utf8' },
  );
  expect(grep.status).toBe(1);
  expect(grep.stdout).toBe('');
}, 120_000);

/** Notes what it is told and what every process shows, tries the door, then does what git does. */
const TRACING_GIT = `#!/bin/bash
{ env; printf '%s\\n' "$@"; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; } >> /tmp/seen 2>/dev/null
for argument in "$@"; do
  case "$argument" in url.http://127.0.0.1:*.insteadOf=*) door="\${argument#url.}"; door="\${door%%.insteadOf=*}";; esac
done
if [ -n "$door" ]; then
  echo "$door" >> /tmp/doors
  root="\${door%/*/}"
  [ -e /tmp/quiet ] || for path in "$door" "\${door}info/refs" "\${door}info/refs?service=git-archive" "\${door}../other.git/info/refs?service=git-upload-pack" \\
    "\${door}..%2fother.git/info/refs?service=git-upload-pack" "$root/other.git/info/refs?service=git-upload-pack" "\${door}HEAD" "\${door}config"; do
    curl -s --path-as-is -w '\\n%{http_code} %{url}\\n' -H 'Authorization: Basic eDp5' "$path" >> /tmp/answers
  done
  if [ -e /tmp/steal ]; then
    rm -f /tmp/steal
    /usr/bin/git.real -c "url.$door.insteadOf=$(/usr/bin/git.real config remote.origin.url)" push origin HEAD:refs/heads/stolen >> /tmp/stolen 2>&1 || echo failed >> /tmp/stolen
    /usr/bin/git.real -c "url.$door.insteadOf=$(/usr/bin/git.real config remote.origin.url)" push origin :refs/heads/main >> /tmp/stolen 2>&1 || echo failed >> /tmp/stolen
  fi
fi
exec /usr/bin/git.real "$@"
`;
