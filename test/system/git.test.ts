/** Git in a sandbox, end to end, with a private repository on the host's loopback. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import { call, must, type Service, startService } from '../support/service.ts';

const user = { username: 'ada', password: 'canary-b1946ac92492' };
const author = { author_name: 'Ada', author_email: 'ada@example.org' };
let service: Service;
let remote: GitServer;
let url = '';

beforeAll(async () => {
  remote = await startGitServer(user);
  url = remote.create('project', { 'README.md': 'hello\n', 'src/a.txt': 'a\n' });
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box' });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
});

const ok = (tool: string, parameters: Record<string, unknown> = {}) => must(service, tool, parameters);
const run = async (command: string) => String((await ok('RunCommand', { command }))['stdout']);
const refused = async (tool: string, parameters: Record<string, unknown>) =>
  (await call(service, tool, parameters)).body;

describe('a private repository', () => {
  it('[SBX-GIT-01, SBX-GIT-02, SBX-GIT-03, SBX-GIT-05, WIRE-GIT-01] is cloned with username and password', async () => {
    const head = remote.git('project', 'rev-parse', 'main').trim();
    expect(await ok('GitClone', { url, ...user })).toEqual({ path: 'project', branch: 'main', sha: head });
    expect(await run('cat project/README.md')).toBe('hello\n');
    expect(await run('git -C project config remote.origin.url')).toBe(`${url}\n`);
  });

  it('[SBX-GIT-07, WIRE-GIT-02] tells its state', async () => {
    expect(await ok('GitStatus', { path: 'project' })).toEqual({
      branch: 'main',
      staged: [],
      modified: [],
      untracked: [],
      conflicted: [],
      ahead: 0,
      behind: 0,
      truncated: false,
    });
  });

  it('[SBX-GIT-22, SBX-GIT-28, WIRE-GIT-12] takes a commit, and is pushed to with what was given at clone', async () => {
    await run('echo more >> project/README.md');
    expect(await ok('GitAdd', { path: 'project', files: ['README.md'] })).toMatchObject({
      added: ['README.md'],
    });
    const made = await ok('GitCommit', { path: 'project', message: 'more', ...author });
    expect(await ok('GitPush', { path: 'project' })).toEqual({
      branch: 'main',
      remote: 'origin',
      pushed: true,
    });
    expect(remote.git('project', 'rev-parse', 'main').trim()).toBe(made['sha']);
  });

  it('[SBX-GIT-21, WIRE-GIT-11] is pulled from', async () => {
    const sha = remote.commit('project', { 'new.txt': 'new\n' });
    expect(await ok('GitPull', { path: 'project' })).toEqual({ branch: 'main', updated: true, sha });
    expect(await ok('GitPull', { path: 'project' })).toEqual({ branch: 'main', updated: false, sha });
  });

  it('is refused with the wrong password, and nothing is left', async () => {
    const problem = await refused('GitClone', { url, username: 'ada', password: 'wrong', path: 'x/y' });
    expect(problem).toMatchObject({ code: 'permission_denied' });
    expect(await run('ls -a x 2>&1 || true')).toContain('No such file');
  });
});
