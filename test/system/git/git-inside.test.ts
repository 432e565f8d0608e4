/** Git between repositories of one sandbox, with what is configured there, and without a path. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsOf } from '../../support/calls.ts';
import { must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

const author = { author_name: 'Ada', author_email: 'ada@example.org' };
let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  await must(service, 'CreateSandbox', { name: 'box', disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

const { ok, refused, run: print } = callsOf(() => service);
const run = async (command: string) => (await print(command)).trim();

async function commit(path: string, file: string): Promise<string> {
  await ok('WriteFile', { path: `${path}/${file}`, content: `${file}\n` });
  await ok('GitAdd', { path, files: [file] });
  return String((await ok('GitCommit', { path, message: file, ...author }))['sha']);
}

describe('without a path', () => {
  it('[SBX-GIT-24] the only repository beneath /workspace is used, and named', async () => {
    expect(await refused('GitStatus', {})).toMatchObject({
      code: 'failed_precondition',
      parameter: 'path',
      hint: expect.stringContaining('git init'),
    });
    await run('git init -q -b main team/first && git init -q team/first/vendor/inner');
    expect(await ok('GitStatus')).toMatchObject({ repository: 'team/first', branch: 'main', unborn: true });
    expect(await ok('GitBranches')).toMatchObject({ branches: [], current: 'main', unborn: true });
    expect(await ok('GitStatus', { path: 'team/first' })).not.toHaveProperty('repository');
  });

  it('[SBX-GIT-24] several are named, and none is used', async () => {
    await run('git init -q -b main second');
    const refusal = await refused('GitLog', {});
    expect(refusal).toMatchObject({ code: 'failed_precondition', parameter: 'path' });
    expect(refusal['detail']).toContain("'second'");
    expect(refusal['detail']).toContain("'team/first'");
    await run('rm -rf team second');
  });
});

describe('a repository in the sandbox', () => {
  it('[WIRE-GIT-13] is cloned by path and by file URL, pushed to and pulled from', async () => {
    await run('git init -q --bare -b main /srv/origin.git');
    expect(await ok('GitClone', { url: '/srv/origin.git' })).toEqual({
      path: 'origin',
      branch: 'main',
      sha: null,
    });
    const first = await commit('origin', 'a');
    expect(await ok('GitPush', { path: 'origin' })).toEqual({
      branch: 'main',
      remote: 'origin',
      url: '/srv/origin.git',
      pushed: true,
    });
    expect(await run('git -C /srv/origin.git rev-parse main')).toBe(first);
    expect(await ok('GitClone', { url: 'file:///srv/origin.git', path: 'other' })).toMatchObject({
      sha: first,
    });
    const second = await commit('origin', 'b');
    await ok('GitPush', { path: 'origin' });
    expect(await ok('GitPull', { path: 'other' })).toEqual({
      branch: 'main',
      updated: true,
      sha: second,
      remote: 'origin',
      url: '/srv/origin.git',
    });
    expect(await ok('GitStatus', { path: 'other' })).toMatchObject({ upstream: 'origin/main', ahead: 0 });
  });

  it('[WIRE-GIT-13] is looked for from /workspace when its path is relative', async () => {
    expect(await ok('GitClone', { url: './other', path: 'deep/down' })).toMatchObject({ branch: 'main' });
    expect(await run('git -C deep/down remote get-url origin')).toBe('/workspace/other');
  });

  it('[WIRE-GIT-01] leaves nothing when it is not there', async () => {
    expect(await refused('GitClone', { url: '/srv/nothing', path: 'nothing' })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('/srv/nothing'),
    });
    expect(await run('ls -d nothing 2>/dev/null | wc -l')).toBe('0');
  });

  it('takes no username', async () => {
    expect(await refused('GitClone', { url: '/srv/origin.git', username: 'ada' })).toMatchObject({
      code: 'invalid_argument',
      parameter: 'username',
    });
  });
});

describe('a remote configured inside', () => {
  it('[WIRE-GIT-15, SBX-GIT-28] is used with the password in its URL, and shown without it', async () => {
    await ok('WriteFile', { path: '/srv/serve.py', content: SERVER });
    await run(
      'git -C /srv/origin.git update-server-info && cd /srv && (setsid python3 serve.py >/srv/log 2>&1 &)',
    );
    await run('for n in $(seq 50); do curl -s -o /dev/null localhost:8000 && break; sleep 0.1; done');
    await run('git -C other remote set-url origin http://ada:s3cret@localhost:8000/origin.git');
    await commit('origin', 'c');
    await ok('GitPush', { path: 'origin' });
    await run('git -C /srv/origin.git update-server-info');
    const pulled = await ok('GitPull', { path: 'other' });
    expect(pulled).toMatchObject({ updated: true, url: 'http://localhost:8000/origin.git' });
    await run('git -C other remote set-url origin http://ada:wrong@localhost:8000/origin.git');
    const refusal = await refused('GitPull', { path: 'other' });
    expect(refusal).toMatchObject({ code: 'failed_precondition' });
    expect(JSON.stringify(refusal)).not.toContain('wrong');
  });
});

it('[WIRE-GIT-04] staging many paths answers with their count', async () => {
  await run('git init -q many && cd many && touch $(seq 200)');
  const { added, added_count } = await ok('GitAdd', { path: 'many', files: ['.'] });
  expect(added).toHaveLength(200);
  expect(added_count).toBe(200);
});

it('[SBX-GIT-20] the log takes any positive max_count', async () => {
  const { commits } = await ok('GitLog', { path: 'origin', max_count: 5_000_000 });
  expect(commits).toHaveLength(3);
});

/** Plain files, to whoever knows the password. */
const SERVER = `
import base64, http.server
EXPECTED = 'Basic ' + base64.b64encode(b'ada:s3cret').decode()
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.headers.get('Authorization') == EXPECTED:
            return super().do_GET()
        self.send_response(401)
        self.send_header('WWW-Authenticate', 'Basic realm="x"')
        self.end_headers()
http.server.ThreadingHTTPServer(('127.0.0.1', 8000), Handler).serve_forever()
`;
