/** Builds of snapshots from Dockerfiles on the real engine: what runs again, what is in the sandboxes, what a failure leaves. */
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuildEvent, Sandhaven } from '../../sdk/src/index.ts';
import { tarHeader } from '../../src/model/tar.ts';
import { tarOf } from '../control/builds/archives.ts';
import { mustAct } from '../support/people.ts';
import { bin, call, must, type Service, startService } from '../support/service.ts';

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-build-'));
}, 120_000);

afterAll(async () => {
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

interface Built {
  code: number;
  stdout: string;
  stderr: string;
}

/** Puts the files into an empty folder and builds it. */
async function build(files: Record<string, string>, ...flags: string[]): Promise<Built> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, 'latin1');
  }
  const env = { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  const program = spawn(bin, ['build', ...flags, folder], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  program.stdout.on('data', (piece) => {
    stdout += piece;
  });
  program.stderr.on('data', (piece) => {
    stderr += piece;
  });
  const code = await new Promise<number>((resolve) =>
    program.once('close', (status) => resolve(status ?? -1)),
  );
  return { code, stdout, stderr };
}

const lines = ({ stderr }: Built) => stderr.split('\n').filter((line) => line !== '');
const run = async (sandbox: string, command: string, more: object = {}) =>
  (await must(service, 'RunCommand', { sandbox, command, ...more }))['output'];
const sandboxes = async () => (await must(service, 'ListSandboxes'))['total_count'];
const captured = (prefix: string) =>
  readdirSync(join(service.dataDir, 'captures')).filter((name) => name.startsWith(prefix));

const tenSteps = (eighth: string) => `FROM base
WORKDIR /app
COPY one.txt ./
RUN echo 3 >> steps
RUN echo 4 >> steps
RUN echo 5 >> steps
COPY two.txt ./
RUN echo 7 >> steps
RUN echo ${eighth} >> steps
RUN echo 9 >> steps
RUN echo 10 >> steps
`;

describe('a detached build', () => {
  const asked = (path: string, init: RequestInit = {}) =>
    fetch(`${service.url}${path}`, { ...init, headers: { authorization: `Bearer ${service.apiKey}` } });
  const begun = async (dockerfile: string): Promise<string> => {
    const body = await buffer(tarOf({ Dockerfile: dockerfile }));
    const answer = await asked('/v1/builds?name=detached&detach=true', { method: 'POST', body });
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { build_id: string }).build_id;
  };
  const read = async (id: string) =>
    (await (await asked(`/v1/builds/${id}`)).json()) as {
      state: string;
      events: BuildEvent[];
      problem: unknown;
    };

  it('goes on without its client, and is a snapshot then', async () => {
    const id = await begun('FROM base\nRUN echo begun; sleep 1; echo made > /made\n');
    expect((await read(id)).state).toBe('building');
    await expect.poll(async () => (await read(id)).state, { timeout: 30_000 }).toBe('ready');
    expect((await read(id)).events).toMatchObject([
      { event: 'step', text: 'FROM base' },
      { event: 'step' },
      { event: 'output', text: 'begun\n' },
    ]);
    await must(service, 'CreateSandbox', { name: 'made', snapshot: 'detached' });
    expect(await run('made', 'cat /made')).toBe('made\n');
    await must(service, 'DeleteSandbox', { sandbox: 'made' });
  }, 60_000);

  it('ends with the service, which leaves no sandbox of it', async () => {
    const id = await begun('FROM base\nRUN echo begun; sleep 600\n');
    await expect.poll(async () => (await read(id)).events.length, { timeout: 30_000 }).toBe(3);
    await service.restart();
    expect(await sandboxes()).toBe(0);
    expect((await asked(`/v1/builds/${id}`)).status).toBe(404);
  }, 60_000);

  it('that is ended leaves no sandbox, and its snapshot as it was', async () => {
    const id = await begun('FROM base\nRUN echo begun; sleep 600\n');
    await expect.poll(async () => (await read(id)).events.length, { timeout: 30_000 }).toBe(3);
    expect((await asked(`/v1/builds/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await sandboxes()).toBe(0);
    await mustAct(service, 'DeleteSnapshot', { snapshot: 'detached' });
  }, 60_000);
});

describe('a Dockerfile of ten steps', () => {
  it('is built, and what was built starts with its files', async () => {
    const files = { Dockerfile: tenSteps('8'), 'one.txt': 'one\n', 'two.txt': 'two\n' };
    const built = await build(files, '-t', 'ten');
    expect(built).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ten {2}snap_[0-9a-z]{16}\n$/) });
    expect(built.stderr).not.toContain('(kept)');
    expect(await sandboxes()).toBe(0);
    await must(service, 'CreateSandbox', { name: 'made', snapshot: 'ten' });
    expect(await run('made', 'pwd; cat one.txt two.txt steps')).toBe(
      '/app\none\ntwo\n3\n4\n5\n7\n8\n9\n10\n',
    );
    await must(service, 'DeleteSandbox', { sandbox: 'made' });
  });

  it('runs steps 8 to 10 alone when step 8 has changed', async () => {
    const files = { Dockerfile: tenSteps('eight'), 'one.txt': 'one\n', 'two.txt': 'two\n' };
    const built = await build(files, '-t', 'ten');
    expect(built.code).toBe(0);
    expect(lines(built)).toEqual([
      '[0 1/11] FROM base',
      '[0 2/11] WORKDIR /app  (kept)',
      '[0 3/11] COPY one.txt ./  (kept)',
      '[0 4/11] RUN echo 3 >> steps  (kept)',
      '[0 5/11] RUN echo 4 >> steps  (kept)',
      '[0 6/11] RUN echo 5 >> steps  (kept)',
      '[0 7/11] COPY two.txt ./  (kept)',
      '[0 8/11] RUN echo 7 >> steps  (kept)',
      '[0 9/11] RUN echo eight >> steps',
      '[0 10/11] RUN echo 9 >> steps',
      '[0 11/11] RUN echo 10 >> steps',
    ]);
    await must(service, 'CreateSandbox', { name: 'made', snapshot: 'ten' });
    expect(await run('made', 'cat steps')).toBe('3\n4\n5\n7\neight\n9\n10\n');
    await must(service, 'DeleteSandbox', { sandbox: 'made' });
    expect(captured('snap_')).toHaveLength(1);
  });
});

it('copies from a stage, keeps what its Dockerfile sets, and starts no stage that nobody needs', async () => {
  const Dockerfile = `# syntax=docker/dockerfile:1
ARG VERSION=1
FROM base AS never
RUN exit 9
FROM base AS make
ARG VERSION
WORKDIR /out
RUN mkdir -p deep/er && echo "v$VERSION" > deep/er/version && ln -s deep/er/version link && ln deep/er/version hard
RUN printf '#!/bin/sh\\necho tool\\n' > tool && chmod 755 tool && chown 7:8 tool
FROM make AS more
RUN echo more > /out/more
FROM base
ENV PLACE=here GREETING="hello \${PLACE:-there} $PLACE"
COPY --from=make /out/tool /usr/local/bin/
COPY --from=make /out /srv/out
COPY --from=more /out/mor* /srv/one
COPY --chown=games:games --chmod=0750 a/*.txt b /srv/files/
COPY <<EOF <<'EOS' /srv/
with $GREETING
EOF
with $GREETING
EOS
RUN <<EOF
set -e
cd /srv
echo "$GREETING" > heredoc
EOF
RUN ["sh", "-c", "echo exec form > /srv/exec"]
HEALTHCHECK --interval=5s CMD true
USER games
WORKDIR /srv
ENTRYPOINT ["sh", "-c"]
CMD ["id -un > /tmp/entrypoint; pwd >> /tmp/entrypoint; echo $PLACE >> /tmp/entrypoint"]
`;
  const files = {
    Dockerfile,
    'a/x.txt': 'x',
    'a/y.txt': 'y',
    'b/in/z.txt': 'z',
    '.dockerignore': 'a/y.txt\n',
  };
  const built = await build(files, '-t', 'staged', '--build-arg', 'VERSION=2');
  expect(built.stderr).not.toContain('exit 9');
  expect(built.code).toBe(0);
  expect(built.stderr).toContain('Note, line 29: HEALTHCHECK is ignored: nothing in a sandbox is checked.\n');
  expect(await must(service, 'GetSnapshot', { snapshot: 'staged' })).toMatchObject({
    state: 'active',
    user: 'games',
    workdir: '/srv',
    env: { PLACE: 'here', GREETING: 'hello there ' },
    source: { name: 'Dockerfile' },
  });
  await must(service, 'CreateSandbox', { name: 'made', snapshot: 'staged' });
  expect(
    await run('made', 'id -un; pwd; echo "$GREETING"; tool; stat -c "%a %u:%g %n" /usr/local/bin/tool'),
  ).toBe('games\n/srv\nhello there \ntool\n755 7:8 /usr/local/bin/tool\n');
  expect(
    await run('made', 'cat out/link one heredoc exec EOF EOS; readlink out/link; stat -c %h out/hard'),
  ).toBe('v2\nmore\nhello there \nexec form\nwith hello there \nwith $GREETING\ndeep/er/version\n2\n');
  expect(await run('made', 'cd files; find . -type f | sort | xargs stat -c "%a %U:%G %n"')).toBe(
    '750 games:games ./in/z.txt\n750 games:games ./x.txt\n',
  );
  const ran = async () => await run('made', 'cat /tmp/entrypoint 2>/dev/null', { cwd: '/' });
  await expect.poll(ran).toBe('games\n/srv\nhere\n');
  await must(service, 'DeleteSandbox', { sandbox: 'made' });
});

it('a command that fails ends the build with its log and its exit code, and leaves no sandbox and no snapshot', async () => {
  const Dockerfile = 'FROM base\nRUN echo fine > /kept\nRUN echo out; echo err >&2; exit 7\n';
  const built = await build({ Dockerfile }, '-t', 'failing');
  expect(built.code).toBe(5);
  expect(built.stdout).toBe('');
  expect(built.stderr).toMatch(/\nout\n/);
  expect(built.stderr).toMatch(/\nerr\n/);
  expect(built.stderr).toContain('The command of line 3 ended with exit code 7.');
  expect(await sandboxes()).toBe(0);
  expect(await call(service, 'GetSnapshot', { snapshot: 'failing' })).toMatchObject({ status: 404 });
  const again = await build(
    { Dockerfile: `${Dockerfile.replace('exit 7', 'exit 0')}` },
    '-t',
    'failing',
    '--json',
  );
  const events = again.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.filter(({ event }) => event === 'step').map(({ cached }) => cached)).toEqual([
    undefined,
    true,
    false,
  ]);
  expect(events.at(-1)).toMatchObject({ event: 'result', snapshot: { name: 'failing', state: 'active' } });
});

it('begins with a snapshot, unpacks archives, and takes no name that is not its own', async () => {
  const first = await build(
    { Dockerfile: 'FROM base\nENV A=1\nWORKDIR /first\nCMD ["true"]\n' },
    '-t',
    'first',
  );
  expect(first.code).toBe(0);
  await must(service, 'CreateSandbox', { name: 'packer' });
  await run('packer', 'mkdir p && echo packed > p/file && tar czf /tmp/p.tgz p && cp /tmp/p.tgz p/plain.tgz');
  const packed = await fetch(`${service.url}/v1/sandboxes/packer/files?path=/tmp/p.tgz`, {
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  const bytes = Buffer.from(await packed.arrayBuffer()).toString('latin1');
  await must(service, 'SnapshotSandbox', { sandbox: 'packer', name: 'taken' });
  await must(service, 'DeleteSandbox', { sandbox: 'packer' });
  const Dockerfile =
    'FROM first\nENV B="$A-2"\nADD p.tgz sub/\nCOPY p.tgz sub/\nCOPY --from=base /etc/debian_version ./\nRUN pwd > where && test -s debian_version\n';
  const second = await build({ Dockerfile, 'p.tgz': bytes }, '-t', 'second');
  expect(second.code).toBe(0);
  await must(service, 'CreateSandbox', { name: 'made', snapshot: 'second' });
  expect(await run('made', 'cat sub/p/file where; ls sub; echo $B')).toBe('packed\n/first\np\np.tgz\n1-2\n');
  await must(service, 'DeleteSandbox', { sandbox: 'made' });
  const refused = await build({ Dockerfile: 'FROM base\n' }, '-t', 'taken');
  expect(refused).toMatchObject({ code: 5, stdout: '' });
  expect(refused.stderr).toContain("There is a snapshot named 'taken', which no build has made.");
  await mustAct(service, 'DeleteSnapshot', { snapshot: 'taken' });
});

it('the SDK builds, hears what happens, and throws what the build fails with', async () => {
  const client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await writeFile(
    join(folder, 'Dockerfile'),
    'ARG WHO\nFROM base\nARG WHO\nRUN echo "hello $WHO" > /said; echo loud\n',
  );
  const context = execFileSync('tar', ['-cf', '-', '-C', folder, '.']);
  const events: BuildEvent[] = [];
  const built = await client.build({ name: 'by-sdk', context, buildArgs: { WHO: 'you' } }, (event) =>
    events.push(event),
  );
  expect(events.map(({ event }) => event)).toEqual(['step', 'step', 'step', 'output']);
  expect(events[3]).toEqual({ event: 'output', stream: 'stdout', text: 'loud\n' });
  await using box = await client.create({ snapshot: built.id });
  expect((await box.run('cat /said')).output).toBe('hello you\n');
  await expect(client.build({ name: 'by-sdk', context, target: 'none' })).rejects.toMatchObject({
    code: 'invalid_argument',
    parameter: 'target',
  });
  const failing = execFileSync('tar', [
    '-cf',
    '-',
    '-C',
    folder,
    '--transform=s/^Docker/Other/',
    'Dockerfile',
  ]);
  await expect(client.build({ name: 'by-sdk', context: failing })).rejects.toThrow(
    "The context has no file 'Dockerfile'.",
  );
});

it('is refused without the scope, for names that none may have, and with what is no tar', async () => {
  const asked = async (query: string, body: string) => {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const answer = await fetch(`${service.url}/v1/builds?${query}`, { method: 'POST', headers, body });
    return [answer.status, ((await answer.json()) as { parameter?: string }).parameter];
  };
  expect(await asked('name=a/b', '')).toEqual([400, 'name']);
  expect(await asked('', '')).toEqual([400, 'name']);
  expect(await asked('name=base', '')).toEqual([409, 'name']);
  expect(await asked('name=ok&build_arg=x', '')).toEqual([400, 'build_arg']);
  expect(await asked('name=ok', 'x'.repeat(2_000))).toEqual([400, 'body']);
  expect(await asked('name=ok', '')).toEqual([400, 'body']);
});

it('a body that breaks off builds nothing, and is no fault of the service', async () => {
  const ended = new AbortController();
  const body = new ReadableStream({
    start(controller) {
      const size = 1_000_000;
      const file = {
        path: 'a',
        type: 'file',
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime: 0,
        size,
        target: '',
      } as const;
      controller.enqueue(Buffer.concat([tarHeader(file), Buffer.alloc(100_000)]));
      setTimeout(() => ended.abort(), 100);
    },
  });
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const init = { method: 'POST', headers, body, duplex: 'half', signal: ended.signal } as RequestInit;
  await expect(fetch(`${service.url}/v1/builds?name=broken`, init)).rejects.toThrow();
  expect(await sandboxes()).toBe(0);
});

it('a client that leaves ends the build, and a killed service leaves nothing that cannot be deleted', async () => {
  const env = { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  await build({ Dockerfile: 'FROM base\nRUN echo begun; sleep 300\n' }, '--help');
  const started = () =>
    spawn(bin, ['build', '-t', 'cut', folder], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const begun = (program: ReturnType<typeof started>) =>
    new Promise<void>((resolve) => {
      let text = '';
      program.stderr.on('data', (piece) => {
        text += piece;
        if (text.includes('\nbegun\n')) resolve();
      });
    });
  const left = started();
  await begun(left);
  expect(await sandboxes()).toBe(1);
  left.kill('SIGKILL');
  await expect.poll(sandboxes).toBe(0);
  const cut = started();
  await begun(cut);
  await service.kill();
  await service.restart();
  const { sandboxes: rest } = (await must(service, 'ListSandboxes')) as {
    sandboxes: { name: string; ephemeral: boolean }[];
  };
  expect(rest).toMatchObject([{ name: expect.stringMatching(/^build-cut-[0-9a-z]{6}$/), ephemeral: true }]);
  for (const { name } of rest) await must(service, 'DeleteSandbox', { sandbox: name });
  expect(await call(service, 'GetSnapshot', { snapshot: 'cut' })).toMatchObject({ status: 404 });
  const whole = await build(
    { Dockerfile: tenSteps('8'), 'one.txt': 'one\n', 'two.txt': 'two\n' },
    '-t',
    'ten',
  );
  expect(whole.code).toBe(0);
});
