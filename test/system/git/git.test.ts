/** Git in a sandbox and remotes: cloned, pulled from and pushed to, and what is said when they refuse. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callsOf } from '../../support/calls.ts';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import { must, type Service, startService } from '../../support/service.ts';
import type { Parameters } from '../../support/transports.ts';

const user = { username: 'ada', password: 'canary-b1946ac92492' };
const author = { author_name: 'Ada', author_email: 'ada@example.org' };
let service: Service;
let remote: GitServer;

beforeAll(async () => {
  remote = await startGitServer(user);
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box' });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
});

beforeEach(() => {
  remote.requests.length = 0;
  remote.intercept = null;
});

const { ok, refused, run } = callsOf(() => service);
const headOf = (name: string, branch = 'main') => remote.git(name, 'rev-parse', branch).trim();

let count = 0;
/** A private repository, cloned; its name is the folder too. */
async function cloned(files: Record<string, string> = { 'README.md': 'hello\n' }): Promise<string> {
  const name = `project-${++count}`;
  await ok('GitClone', { url: remote.create(name, files), ...user });
  return name;
}

const urlOf = (name: string) => `${remote.url}/${name}.git`;

async function committed(path: string, file: string, content: string): Promise<string> {
  await ok('WriteFile', { path: `${path}/${file}`, content });
  await ok('GitAdd', { path, files: [file] });
  return String((await ok('GitCommit', { path, message: `change ${file}`, ...author }))['sha']);
}

describe('a clone', () => {
  it('[SBX-GIT-01, SBX-GIT-02, SBX-GIT-03, SBX-GIT-05, WIRE-GIT-01] of a private repository, with username and password', async () => {
    const url = remote.create('first', { 'README.md': 'hello\n' });
    expect(await ok('GitClone', { url, ...user })).toEqual({
      path: 'first',
      branch: 'main',
      sha: headOf('first'),
    });
    expect(await run('cat first/README.md; git -C first config remote.origin.url')).toBe(`hello\n${url}\n`);
    expect(await ok('GitStatus', { path: 'first' })).toEqual({
      branch: 'main',
      staged: [],
      modified: [],
      untracked: [],
      conflicted: [],
      ahead: 0,
      behind: 0,
      upstream: 'origin/main',
      unborn: false,
      truncated: false,
    });
  });

  it('goes to the path it is given: new folders, an empty one, an absolute one, a name that is not UTF-8', async () => {
    const url = remote.create('where', { a: 'a\n' });
    await run('mkdir -p empty');
    for (const path of ['new/deep/folder', 'empty', '/opt/clone', 'caf\uf7e9']) {
      expect(await ok('GitClone', { url, path, ...user })).toMatchObject({ path });
      expect(await ok('ReadFile', { path: `${path}/a` })).toMatchObject({ content: 'a\n' });
    }
  });

  it('fills no folder that holds something, and takes no file’s place', async () => {
    const url = remote.create('taken', { a: 'a\n' });
    await run('mkdir -p full && touch full/x && touch file');
    for (const path of ['full', 'file']) {
      expect(await refused('GitClone', { url, path, ...user })).toMatchObject({ code: 'already_exists' });
    }
    expect(await run('ls -A full')).toBe('x\n');
    expect(remote.requests).toEqual([]);
  });

  it('into a folder that another clone is filling is refused, and spoils nothing', async () => {
    const url = remote.create('twice', { a: 'a\n' });
    const both = await Promise.all(
      ['same', './same/'].map((path) => refused('GitClone', { url, path, ...user })),
    );
    expect(both.map(({ code }) => code ?? 'fine').toSorted()).toEqual(['already_exists', 'fine']);
    expect(await ok('GitStatus', { path: 'same' })).toMatchObject({
      branch: 'main',
      modified: [],
      staged: [],
    });
  });

  it('[SBX-GIT-03] of a branch, or of a tag, which no branch is', async () => {
    const url = remote.create('branches', { a: 'a\n' });
    const sha = remote.commit('branches', { b: 'b\n' }, { branch: 'feature/x' });
    remote.git('branches', 'tag', 'v1', 'main');
    expect(await ok('GitClone', { url, ...user, path: 'b1', branch: 'feature/x' })).toEqual({
      path: 'b1',
      branch: 'feature/x',
      sha,
    });
    expect(await ok('GitClone', { url, ...user, path: 'b2', branch: 'v1' })).toEqual({
      path: 'b2',
      branch: null,
      sha: headOf('branches'),
    });
    expect(await refused('GitClone', { url, ...user, path: 'b3', branch: 'nothing' })).toMatchObject({
      code: 'not_found',
      resource: 'branch',
      parameter: 'branch',
    });
    expect(await run('ls -d b3 2>/dev/null | wc -l')).toBe('0\n');
    // A branch that only the remote has becomes local.
    await ok('GitClone', { url, ...user, path: 'b4' });
    expect(await ok('GitCheckout', { path: 'b4', ref: 'feature/x' })).toEqual({
      ref: 'feature/x',
      branch: 'feature/x',
      created: true,
    });
  });

  it('[SBX-GIT-04] of a commit: detached, unless it is the head of the branch', async () => {
    const url = remote.create('commits', { a: 'a\n' });
    const first = headOf('commits');
    const second = remote.commit('commits', { b: 'b\n' });
    const clone = (path: string, commit_id: string) => refused('GitClone', { url, ...user, path, commit_id });
    expect(await clone('c1', first.slice(0, 12))).toEqual({ path: 'c1', branch: null, sha: first });
    expect(await clone('c2', second)).toEqual({ path: 'c2', branch: 'main', sha: second });
    expect(await clone('c3', 'f'.repeat(40))).toMatchObject({
      code: 'not_found',
      resource: 'commit',
      parameter: 'commit_id',
    });
    expect(await run('ls -d c3 2>/dev/null | wc -l')).toBe('0\n');
  });

  it('of an empty repository works, to its first push', async () => {
    const url = remote.create('empty-one');
    expect(await ok('GitClone', { url, ...user, path: 'e' })).toEqual({
      path: 'e',
      branch: 'main',
      sha: null,
    });
    const sha = await committed('e', 'a', 'a\n');
    await ok('GitPush', { path: 'e' });
    expect(headOf('empty-one')).toBe(sha);
    expect(await ok('GitPull', { path: 'e' })).toEqual({
      branch: 'main',
      updated: false,
      sha,
      remote: 'origin',
      url,
    });
  });

  it('with a token alone is made as the user git', async () => {
    const url = remote.create('token', { a: 'a\n' });
    await refused('GitClone', { url, password: 'token', path: 't' });
    const expected = `Basic ${Buffer.from('git:token').toString('base64')}`;
    expect(remote.requests[0]?.headers.authorization).toBe(expected);
  });
});

describe('a clone that fails', () => {
  it.each([
    [
      'the wrong password',
      () => ({ url: remote.create('locked', { a: 'a' }), username: 'ada', password: 'no' }),
      'permission_denied',
    ],
    ['a repository that is not there', () => ({ url: `${remote.url}/none.git`, ...user }), 'not_found'],
    ['a private address', () => ({ url: 'http://10.255.255.1/a.git', ...user }), 'permission_denied'],
    ['the metadata service', () => ({ url: 'http://169.254.169.254/latest', ...user }), 'permission_denied'],
    [
      'a host that does not resolve',
      () => ({ url: 'http://no-such-host.invalid/a', ...user }),
      'unavailable',
    ],
    ['no credentials and no way', () => ({ url: 'http://127.0.0.1:1/a.git' }), 'failed_precondition'],
    ['credentials for ssh', () => ({ url: 'ssh://git@example.org/a', ...user }), 'invalid_argument'],
    [
      'a password in the URL',
      () => ({ url: 'http://ada:canary-b1946ac92492@127.0.0.1/a' }),
      'invalid_argument',
    ],
  ])('for %s reports that, and leaves nothing', async (_why, request, code) => {
    const problem = await refused('GitClone', { ...request(), path: 'parent/failed' });
    expect(problem).toMatchObject({ code });
    expect(JSON.stringify(problem)).not.toContain(user.password);
    expect(await run('ls -d parent 2>/dev/null | wc -l')).toBe('0\n');
  });

  it('for a page in place of Git, and for a redirect, names the cause', async () => {
    const url = remote.create('odd', { a: 'a' });
    remote.intercept = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Login</h1>');
      return true;
    };
    expect(await refused('GitClone', { url, ...user, path: 'x' })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('Git server'),
    });
    remote.intercept = (request, response) => {
      response.writeHead(301, { location: `https://git.example.org${request.url}` }).end();
      return true;
    };
    expect(await refused('GitClone', { url, ...user, path: 'x' })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('git.example.org'),
    });
  });

  it('at a remote that hangs ends with its client, and empties the folder again', async () => {
    const url = remote.create('hanging', { a: 'a' });
    let asked = () => {};
    const reached = new Promise<void>((resolve) => {
      asked = resolve;
    });
    remote.intercept = () => {
      asked();
      return true;
    };
    await run('mkdir -p waiting');
    const leaving = new AbortController();
    const request = fetch(`${service.url}/v1/tools/Sandbox.GitClone`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url, ...user, path: 'waiting' }),
      signal: leaving.signal,
    });
    await reached;
    leaving.abort();
    await expect(request).rejects.toThrow();
    await expect
      .poll(() => run('ls -A waiting | wc -l; pgrep -c git || true'), { timeout: 20_000 })
      .toBe('0\n0\n');
    expect(await run('ls -d waiting')).toBe('waiting\n');
  });
});

describe('pulling', () => {
  it('[SBX-GIT-21, SBX-GIT-28, WIRE-GIT-11] takes what the tracked branch has, with what was given at clone', async () => {
    const path = await cloned();
    const sha = remote.commit(path, { 'new.txt': 'new\n' });
    remote.commit(path, { x: 'x\n' }, { branch: 'other' });
    expect(await ok('GitPull', { path })).toEqual({
      branch: 'main',
      updated: true,
      sha,
      remote: 'origin',
      url: urlOf(path),
    });
    expect(await ok('GitPull', { path })).toMatchObject({ branch: 'main', updated: false, sha });
    expect(await run(`cat ${path}/new.txt; git -C ${path} branch -r --list origin/other`)).toContain(
      'origin/other',
    );
  });

  it('[SBX-GIT-07] after fetching, ahead and behind are counted', async () => {
    const path = await cloned();
    remote.commit(path, { x: '1\n' });
    remote.commit(path, { x: '2\n' });
    await ok('GitPull', { path });
    await run(`git -C ${path} reset -q --hard HEAD~2`);
    await committed(path, 'mine', '1\n');
    expect(await ok('GitStatus', { path })).toMatchObject({ ahead: 1, behind: 2 });
  });

  it('takes another branch of the remote on request, and fails when there is none', async () => {
    const path = await cloned();
    const sha = remote.commit(path, { x: 'x\n' }, { branch: 'other' });
    expect(await ok('GitPull', { path, branch: 'other' })).toEqual({
      branch: 'main',
      updated: true,
      sha,
      remote: 'origin',
      url: urlOf(path),
    });
    expect(await refused('GitPull', { path, branch: 'nothing' })).toMatchObject({
      code: 'not_found',
      resource: 'branch',
    });
    remote.git(path, 'branch', '-m', 'main', 'renamed');
    expect(await refused('GitPull', { path })).toMatchObject({ code: 'not_found', resource: 'branch' });
  });

  it('merges, and the merge names the remote and not the way to it', async () => {
    const path = await cloned();
    remote.commit(path, { theirs: 'x\n' });
    await run(`git config --global user.name Box && git config --global user.email box@example.org`);
    const mine = await committed(path, 'mine', 'x\n');
    const { sha, updated } = await ok('GitPull', { path });
    expect(updated).toBe(true);
    expect(sha).not.toBe(mine);
    const { commits } = (await ok('GitLog', { path, max_count: 1 })) as { commits: Parameters[] };
    expect(commits[0]?.['message']).toBe(`Merge branch 'main' of ${remote.url}/${path}.git`);
  });

  it('stops at conflicts, which are named, resolved and committed', async () => {
    const path = await cloned({ a: 'one\n', 'b c': 'one\n' });
    remote.commit(path, { a: 'theirs\n', 'b c': 'theirs\n' });
    await committed(path, 'a', 'mine\n');
    await committed(path, 'b c', 'mine\n');
    expect(await refused('GitPull', { path })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringMatching(/'a'.*'b c'/),
      hint: expect.stringContaining('GitAdd'),
    });
    expect(await ok('GitStatus', { path })).toMatchObject({ conflicted: ['a', 'b c'], staged: [] });
    expect(await refused('GitCommit', { path, message: 'x', ...author })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('conflicts'),
    });
    expect(await refused('GitPull', { path })).toMatchObject({ code: 'failed_precondition' });
    await ok('WriteFile', { path: `${path}/a`, content: 'both\n' });
    await ok('WriteFile', { path: `${path}/b c`, content: 'mine\n' });
    await ok('GitAdd', { path, files: ['.'] });
    await ok('GitCommit', { path, message: 'merged', ...author });
    expect(await run(`git -C ${path} rev-list --count --merges HEAD`)).toBe('1\n');
    await ok('GitPush', { path });
  });

  it('is refused when local changes are in the way, detached, or without a tracked branch', async () => {
    const path = await cloned({ a: 'one\n' });
    remote.commit(path, { a: 'theirs\n' });
    await run(`echo mine > ${path}/a`);
    expect(await refused('GitPull', { path })).toMatchObject({ code: 'failed_precondition' });
    expect(await run(`cat ${path}/a`)).toBe('mine\n');
    await run(`cd ${path} && git checkout -q -- a && git checkout -q -b lonely`);
    expect(await refused('GitPull', { path })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('lonely'),
    });
    await run(`git -C ${path} checkout -q --detach`);
    for (const tool of ['GitPull', 'GitPush']) {
      expect(await refused(tool, { path })).toMatchObject({
        code: 'failed_precondition',
        detail: expect.stringContaining('detached'),
      });
    }
  });
});

describe('pushing', () => {
  it('[SBX-GIT-22, SBX-GIT-28, WIRE-GIT-12] sends the current branch, with what was given at clone', async () => {
    const path = await cloned();
    const sha = await committed(path, 'a', 'a\n');
    expect(await ok('GitPush', { path })).toEqual({
      branch: 'main',
      remote: 'origin',
      url: urlOf(path),
      pushed: true,
    });
    expect(headOf(path)).toBe(sha);
    expect(await ok('GitStatus', { path })).toMatchObject({ ahead: 0, behind: 0 });
    expect(await ok('GitPush', { path })).toMatchObject({ pushed: true });
  });

  it('makes a new branch at the remote, tracked from then on; another than the current one by name', async () => {
    const path = await cloned();
    await ok('GitCreateBranch', { path, branch: 'feature/é' });
    const sha = await committed(path, 'a', 'a\n');
    await ok('GitCheckout', { path, ref: 'main' });
    expect(await ok('GitPush', { path, branch: 'feature/é' })).toMatchObject({ branch: 'feature/é' });
    expect(headOf(path, 'feature/é')).toBe(sha);
    await ok('GitCheckout', { path, ref: 'feature/é' });
    expect(await ok('GitPull', { path })).toMatchObject({ updated: false });
    expect(await refused('GitPush', { path, branch: 'nothing' })).toMatchObject({
      code: 'not_found',
      resource: 'branch',
    });
  });

  it('takes large files, as cloning does', async () => {
    // More than the service holds of a channel, and more than git sends in one piece.
    const path = await cloned();
    await run(`head -c 6000000 /dev/urandom > ${path}/large && sha256sum < ${path}/large > sum`);
    await ok('GitAdd', { path, files: ['large'] });
    await ok('GitCommit', { path, message: 'large', ...author });
    await ok('GitPush', { path });
    await ok('GitClone', { url: `${remote.url}/${path}.git`, path: 'large-again', ...user });
    expect(await run('sha256sum < large-again/large | cmp - sum && echo same')).toBe('same\n');
  });

  it('[SBX-GIT-23, WIRE-GIT-12] is refused when the remote has newer commits, unless forced', async () => {
    const path = await cloned();
    const theirs = remote.commit(path, { x: 'x\n' });
    const mine = await committed(path, 'a', 'a\n');
    expect(await refused('GitPush', { path })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('GitPull'),
    });
    expect(headOf(path)).toBe(theirs);
    await ok('GitPush', { path, force: true });
    expect(headOf(path)).toBe(mine);
  });

  it('[WIRE-GIT-12] is refused by a hook of the remote', async () => {
    const path = await cloned();
    await committed(path, 'a', 'a\n');
    remote.git(path, 'config', 'core.hooksPath', remote.hookFolder('pre-receive', '#!/bin/sh\nexit 1\n'));
    expect(await refused('GitPush', { path })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('rule or a hook'),
    });
  });

  it('is refused to a remote with no URL, a path where nothing is, and one that runs a program', async () => {
    const path = await cloned();
    for (const url of ['/tmp/elsewhere', 'file:///tmp/elsewhere', 'ext::sh -c touch% /tmp/ran', 'a\nb']) {
      await run(`git -C ${path} config remote.origin.url '${url}'`);
      for (const tool of ['GitPush', 'GitPull']) {
        expect(await refused(tool, { path }), `${tool} ${url}`).toMatchObject({
          code: 'failed_precondition',
        });
      }
    }
    await run(`git -C ${path} config --unset remote.origin.url`);
    expect(await refused('GitPush', { path })).toMatchObject({ code: 'failed_precondition' });
    expect(await run('ls /tmp/ran 2>/dev/null | wc -l')).toBe('0\n');
  });
});

describe('credentials', () => {
  it('[SBX-GIT-28] serve the repository that they were given for, and are replaced by a later clone', async () => {
    const path = await cloned();
    const other = `other-of-${path}`;
    const url = remote.create(other, { secret: 'x\n' });
    // The same server, another repository: git inside asks without credentials, and does not reach this host.
    await run(`git -C ${path} config remote.origin.url ${url}`);
    expect(await refused('GitPull', { path })).toMatchObject({ code: 'failed_precondition' });
    expect(remote.requests.some((request) => request.url.includes(other))).toBe(false);
    await run(`git -C ${path} config remote.origin.url ${remote.url}/${path}`);
    expect(await ok('GitPull', { path })).toMatchObject({ updated: false });
  });

  it('survive a restart of the service', async () => {
    const path = await cloned();
    await service.restart();
    const sha = remote.commit(path, { new: 'x\n' });
    expect(await ok('GitPull', { path })).toMatchObject({ updated: true, sha });
  }, 60_000);

  it('[SBX-GIT-28] serve a clone made without any when they are configured in the sandbox', async () => {
    // A server inside, with its own user; git inside is told the password by its own configuration.
    await run(`git init -q --bare -b main inner.git && git -C inner.git config http.receivepack true`);
    await ok('WriteFile', { path: 'server.py', content: INNER_SERVER });
    await run(
      'nohup python3 server.py >/tmp/server.log 2>&1 & for n in $(seq 100); do test -s port && exit 0; sleep 0.1; done; exit 1',
    );
    const url = `http://127.0.0.1:${(await run('cat port')).trim()}/inner.git`;
    expect(await refused('GitClone', { url, path: 'inner' })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('username and password'),
    });
    await run(`git config --global credential.helper '!printf "username=in\\npassword=side\\n"'`);
    expect(await ok('GitClone', { url, path: 'inner' })).toMatchObject({ branch: 'main', sha: null });
    const sha = await committed('inner', 'a', 'a\n');
    await ok('GitPush', { path: 'inner' });
    expect(await run('git -C inner.git rev-parse main')).toBe(`${sha}\n`);
    expect(await ok('GitPull', { path: 'inner' })).toMatchObject({ updated: false });
    await run('git config --global --unset credential.helper');
  });

  it('[SBX-GIT-28] serve a push when they stand in the URL of a remote, and are not shown', async () => {
    const port = (await run('cat port')).trim();
    await run(`git -C inner remote set-url origin http://in:side@127.0.0.1:${port}/inner.git`);
    const sha = await committed('inner', 'b', 'b\n');
    const pushed = await ok('GitPush', { path: 'inner' });
    expect(JSON.stringify(pushed)).not.toContain('side');
    expect(await run('git -C inner.git rev-parse main')).toBe(`${sha}\n`);
  });
});

it('[WIRE-GIT-13] remotes over git:// are spoken to from inside', async () => {
  await run(`mkdir -p served && git init -q --bare -b main served/open.git && cd served &&
    git daemon --detach --reuseaddr --listen=127.0.0.1 --port=9418 --base-path=/workspace/served --export-all --enable=receive-pack`);
  await ok('GitClone', { url: 'git://127.0.0.1/open.git', path: 'open' });
  const sha = await committed('open', 'a', 'a\n');
  await ok('GitPush', { path: 'open' });
  expect(await run('git -C served/open.git rev-parse main')).toBe(`${sha}\n`);
});

it('[WIRE-GIT-13] remotes over ssh are tried from inside, and nothing asks', async () => {
  expect(await refused('GitClone', { url: 'git@127.0.0.1:a/b.git', path: 'ssh' })).toMatchObject({
    code: 'failed_precondition',
  });
});

/** `git http-backend` behind Python's own CGI, inside, for a user whom only the sandbox knows. */
const INNER_SERVER = `
import base64, http.server, os, subprocess
EXPECTED = 'Basic ' + base64.b64encode(b'in:side').decode()
class Handler(http.server.BaseHTTPRequestHandler):
    def serve(self):
        if self.headers.get('Authorization') != EXPECTED:
            self.send_response(401); self.send_header('WWW-Authenticate', 'Basic realm="x"')
            self.send_header('Content-Length', '0'); self.end_headers(); return
        path, _, query = self.path.partition('?')
        length = int(self.headers.get('Content-Length') or 0)
        env = dict(os.environ, GIT_PROJECT_ROOT='/workspace', GIT_HTTP_EXPORT_ALL='1', PATH_INFO=path, QUERY_STRING=query,
          REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get('Content-Type') or '', CONTENT_LENGTH=str(length),
          HTTP_CONTENT_ENCODING=self.headers.get('Content-Encoding') or '', REMOTE_USER='in',
          GIT_PROTOCOL=self.headers.get('Git-Protocol') or '')
        out = subprocess.run(['git', 'http-backend'], input=self.rfile.read(length), env=env, capture_output=True).stdout
        head, _, body = out.partition(b'\\r\\n\\r\\n')
        self.send_response(200)
        for line in head.decode().split('\\r\\n'):
            name, _, value = line.partition(': ')
            if name != 'Status': self.send_header(name, value)
        self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
    do_GET = do_POST = serve
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
open('port', 'w').write(str(server.server_port))
server.serve_forever()
`;
