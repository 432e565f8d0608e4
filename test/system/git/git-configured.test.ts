/**
 * Git tools use what git in the sandbox is configured with: programs that stand in for ssh and note that they ran, and
 * programs that are asked for passwords.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import { call, must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

const user = { username: 'ada', password: 'canary-9c1185a5c5e9' };
let service: SharedService;
let remote: GitServer;

beforeAll(async () => {
  remote = await startGitServer(user);
  service = await sharedService();
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
});

interface Box {
  ok(tool: string, parameters?: Record<string, unknown>): Promise<Record<string, unknown>>;
  refused(tool: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>>;
  run(command: string): Promise<string>;
}

let count = 0;
/** A sandbox with a bare repository in /srv/origin.git and the programs of `PROGRAMS`. */
async function boxWith(env_vars: Record<string, string> = {}): Promise<Box> {
  const sandbox = `box-${++count}`;
  await must(service, 'CreateSandbox', { name: sandbox, disk_gb: 1, env_vars });
  const ok: Box['ok'] = (tool, parameters = {}) => must(service, tool, { sandbox, ...parameters });
  const run = async (command: string) => String((await ok('RunCommand', { command }))['output']).trim();
  await ok('WriteFile', { path: '/srv/programs', content: PROGRAMS });
  expect(await run('sh -e /srv/programs')).toBe('');
  const refused: Box['refused'] = async (tool, parameters) =>
    (await call(service, tool, { sandbox, ...parameters })).body;
  return { ok, refused, run };
}

const url = 'ssh://git@git.example/srv/origin.git';
const clone = ({ ok }: Box, path = 'made') => ok('GitClone', { url, path });
/** What ran in place of ssh. */
const ran = ({ run }: Box) => run('sort -u /srv/ran; rm -f /srv/ran');

it.each([
  ['GIT_SSH_COMMAND', { GIT_SSH_COMMAND: '/srv/ssh command' }, 'command'],
  ['GIT_SSH', { GIT_SSH: '/srv/ssh' }, 'ssh'],
  [
    'GIT_CONFIG_COUNT',
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.sshCommand', GIT_CONFIG_VALUE_0: '/srv/ssh count' },
    'count',
  ],
])('[WIRE-GIT-15] %s of the sandbox is the ssh of a clone, a pull and a push', async (_name, env, noted) => {
  const box = await boxWith(env);
  await clone(box);
  expect(await ran(box)).toBe(noted);
  await box.ok('GitPull', { path: 'made' });
  expect(await ran(box)).toBe(noted);
  await box.ok('GitPush', { path: 'made' });
  expect(await ran(box)).toBe(noted);
});

it('[WIRE-GIT-15] core.sshCommand is used, wherever git is configured', async () => {
  const box = await boxWith();
  const { run, ok } = box;
  await run('git config --system core.sshCommand "/srv/ssh system"');
  await clone(box, 'one');
  expect(await ran(box)).toBe('system');
  await run('git config --global core.sshCommand "/srv/ssh global"');
  await clone(box, 'two');
  expect(await ran(box)).toBe('global');
  await run('git -C one config core.sshCommand "/srv/ssh repository"');
  await ok('GitPull', { path: 'one' });
  expect(await ran(box)).toBe('repository');
  await ok('GitPush', { path: 'one' });
  expect(await ran(box)).toBe('repository');
});

it.each([
  ['a folder', 'gitdir:/workspace/work/'],
  ['a remote', 'hasconfig:remote.*.url:ssh://git@git.example/**'],
])(
  '[WIRE-GIT-15] core.sshCommand on condition of %s is used by the clone itself',
  async (_what, condition) => {
    const box = await boxWith();
    await box.run(
      `git config --global 'includeIf.${condition}.path' /srv/work; git config -f /srv/work core.sshCommand '/srv/ssh work'`,
    );
    await clone(box, 'work/made');
    expect(await ran(box)).toBe('work');
    expect(await box.run('git -C work/made config remote.origin.url')).toBe(url);
  },
);

it('[WIRE-GIT-13] the ssh of a sandbox that says nothing asks nobody, and takes the keys of new hosts', async () => {
  const box = await boxWith();
  await box.run('ln -s /srv/ssh /usr/local/bin/ssh');
  await clone(box);
  expect(await ran(box)).toBe('-oBatchMode=yes');
  expect(await box.run('head -1 /srv/arguments')).toContain('-oStrictHostKeyChecking=accept-new');
});

it('[WIRE-GIT-15] the ssh of a sandbox that has a program for passwords may ask it', async () => {
  const box = await boxWith({ SSH_ASKPASS: '/srv/ask', DISPLAY: ':0' });
  await box.run('ln -s /srv/ssh /usr/local/bin/ssh');
  await clone(box);
  expect(await ran(box)).toBe('-oBatchMode=no');
});

it('[WIRE-GIT-13] an ssh that would ask ends, since there is no terminal', async () => {
  const box = await boxWith({ GIT_SSH_COMMAND: '/srv/asking' });
  expect(await box.refused('GitClone', { url, path: 'made' })).toMatchObject({
    code: 'failed_precondition',
    detail: expect.stringContaining('no terminal'),
  });
});

it.each([
  ['GIT_ASKPASS', { GIT_ASKPASS: '/srv/ask' }],
  ['SSH_ASKPASS', { SSH_ASKPASS: '/srv/ask' }],
  [
    'core.askPass by GIT_CONFIG_COUNT',
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.askPass', GIT_CONFIG_VALUE_0: '/srv/ask' },
  ],
])('[WIRE-GIT-15] %s of the sandbox answers for a remote that git reaches by itself', async (_name, env) => {
  const box = await boxWith(env);
  await box.run(SERVE);
  await box.ok('GitClone', { url: 'http://localhost:8000/origin.git', path: 'made' });
  expect(await box.run('cut -d" " -f1 /srv/asked')).toBe('Username\nPassword');
  await box.ok('GitPull', { path: 'made' });
});

it('[WIRE-GIT-15] core.askPass answers for a remote that git reaches by itself', async () => {
  const box = await boxWith();
  await box.run(`git config --global core.askPass /srv/ask; ${SERVE}`);
  await box.ok('GitClone', { url: 'http://localhost:8000/origin.git', path: 'made' });
  expect(await box.run('cut -d" " -f1 /srv/asked')).toBe('Username\nPassword');
});

it('[WIRE-GIT-14] credentials that were given to a tool are asked of nothing inside, and come before what is there', async () => {
  const asking = { GIT_ASKPASS: '/srv/ask', SSH_ASKPASS: '/srv/ask', GIT_SSH_COMMAND: '/srv/ssh command' };
  const settings = [
    ['core.askPass', '/srv/ask'],
    ['credential.helper', '/srv/ask'],
    ['http.extraHeader', 'Authorization: Basic c3RvbGVu'],
    ['http.proxy', 'http://127.0.0.1:9'],
  ];
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  const env = { ...asking, GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
  const box = await boxWith(env);
  const given = remote.create('given', { a: 'a\n' });
  await box.ok('GitClone', { url: given, path: 'given', ...user });
  await box.ok('GitPull', { path: 'given' });
  const encoded = Buffer.from(`${user.username}:${user.password}`).toString('base64');
  for (const { headers } of remote.requests) expect(headers.authorization).toBe(`Basic ${encoded}`);
  const wrong = { url: given, path: 'wrong', username: 'ada', password: 'wrong' };
  expect(await box.refused('GitClone', wrong)).toMatchObject({ code: 'permission_denied' });
  expect(await box.run('ls /srv/asked /srv/ran 2>/dev/null')).toBe('');
});

/** The stand-in for ssh runs here what ssh would run at the remote. */
const PROGRAMS = `
cat > /srv/ssh <<'END'
#!/bin/sh
[ "$1" = -G ] && exit 0
case "$1" in command|count|system|global|repository|work|-oBatchMode=*) echo "$1";; *) echo ssh;; esac >> /srv/ran
echo "$@" >> /srv/arguments
for last; do :; done
exec sh -c "$last"
END
cat > /srv/asking <<'END'
#!/bin/sh
(read -r answer < /dev/tty) 2>/dev/null || { echo no terminal >&2; exit 1; }
END
cat > /srv/ask <<'END'
#!/bin/sh
echo "$@" >> /srv/asked
case "$1" in Username*) echo ada;; *) echo s3cret;; esac
END
cat > /srv/serve.py <<'END'
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
END
chmod +x /srv/ssh /srv/asking /srv/ask
cd /srv
git init -q --bare -b main origin.git
git init -q -b main first
git -C first -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty -m first
git -C first push -q /srv/origin.git main
git -C origin.git update-server-info
`;

const SERVE =
  'cd /srv && (setsid python3 serve.py >/srv/log 2>&1 &); ' +
  'for n in $(seq 50); do curl -s -o /dev/null localhost:8000 && break; sleep 0.1; done';
