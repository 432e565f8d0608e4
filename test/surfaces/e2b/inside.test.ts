/** Work inside a sandbox as E2B's clients ask for it: who is let in, procedures and their envelopes, files and signatures. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { addE2bRoutes } from '../../../src/surfaces/e2b/routes.ts';
import { type FakeProcessView, fakeProcesses } from '../fakes/fake-processes.ts';
import { MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Message = Record<string, unknown>;

let http: Harness;
let id: string;
let token: string;
let viewed: (view: FakeProcessView) => void;
let processes: ReturnType<typeof fakeProcesses>;

async function created(): Promise<[id: string, token: string]> {
  const response = await fetch(`${http.url}/e2b/api/sandboxes`, {
    method: 'POST',
    headers: { 'x-api-key': MEMBER_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ templateID: 'base', timeout: 300 }),
  });
  const { sandboxID, envdAccessToken } = (await response.json()) as Record<string, string>;
  return [sandboxID ?? '', envdAccessToken ?? ''];
}

beforeEach(async () => {
  processes = fakeProcesses((view) => viewed(view));
  http = await startHttp({
    further(app, parts) {
      Object.assign(parts.services, { processes });
      addE2bRoutes(app, parts);
    },
  });
  [id, token] = await created();
});

afterEach(() => http.close());

const inside = (path: string, init: RequestInit = {}, by: string | null = token, sandbox = id) =>
  fetch(`${http.url}/e2b/sandbox${path}`, {
    ...init,
    headers: {
      'e2b-sandbox-id': sandbox,
      'e2b-sandbox-port': '49983',
      ...(by === null ? {} : { 'x-access-token': by }),
      ...init.headers,
    },
  });

async function plain(
  name: string,
  message: Message,
  headers: Record<string, string> = {},
  by: string | null = token,
) {
  const init = {
    method: 'POST',
    body: JSON.stringify(message),
    headers: { 'content-type': 'application/json', ...headers },
  };
  const response = await inside(`/${name}`, init, by);
  return { status: response.status, body: (await response.json()) as Message };
}

function enveloped(message: Message): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** All messages of a stream, each with its flags. */
async function streamed(name: string, message: Message | Buffer, headers: Record<string, string> = {}) {
  const response = await inside(`/${name}`, {
    ...{ method: 'POST', body: Buffer.isBuffer(message) ? message : enveloped(message) },
    headers: { 'content-type': 'application/connect+json', ...headers },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/connect+json']);
  const bytes = Buffer.from(await response.arrayBuffer());
  const messages: [number, Message][] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    messages.push([bytes.readUInt8(at), JSON.parse(bytes.subarray(at + 5, at + 5 + length).toString())]);
    at += 5 + length;
  }
  return messages;
}

describe('a sandbox', () => {
  it('says whether it runs to everybody, and no more', async () => {
    expect((await inside('/health', {}, null)).status).toBe(204);
    const gone = await inside('/health', {}, null, '0000000000000000');
    expect(gone.status).toBe(502);
    expect(await gone.json()).toEqual({
      code: 502,
      message: 'The sandbox was not found',
      sandboxId: '0000000000000000',
    });
  });

  it('is closed while it is paused, unless any use wakes it', async () => {
    const sandbox = http.sandboxes.get(`sb_${id}`);
    const statuses = async () => [
      (await inside('/health', {}, null)).status,
      (await plain('filesystem.Filesystem/Stat', { path: '/' })).status,
    ];
    Object.assign(sandbox ?? {}, { asleepSince: 0 });
    expect(await statuses()).toEqual([502, 502]);
    Object.assign(sandbox ?? {}, { sleep: { afterSeconds: null, wakes: true } });
    expect((await statuses())[0]).toBe(204);
  });

  it('opens to its own token alone', async () => {
    expect((await plain('filesystem.Filesystem/Stat', { path: 'a.txt' }, {}, null)).status).toBe(401);
    expect((await plain('filesystem.Filesystem/Stat', { path: 'a.txt' }, {}, 'sbt_x')).body).toMatchObject({
      code: 'unauthenticated',
    });
    http.files.set('/home/user/a.txt', { content: Buffer.from('one'), mode: 0o644 });
    expect((await plain('filesystem.Filesystem/Stat', { path: 'a.txt' })).status).toBe(200);
    expect((await inside('/envs', {}, MEMBER_KEY)).status).toBe(200);
  });

  it('is told from a wrong token when it is gone', async () => {
    await fetch(`${http.url}/e2b/api/sandboxes/${id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': MEMBER_KEY },
    });
    expect(await plain('filesystem.Filesystem/Stat', { path: 'a' })).toMatchObject({
      status: 502,
      body: { code: 'unavailable' },
    });
    expect((await inside('/files?path=a')).status).toBe(502);
  });

  it('has nothing that is not there', async () => {
    expect((await inside('/metrics')).status).toBe(501);
    expect(await plain('filesystem.Filesystem/Chroot', { path: 'a' })).toMatchObject({
      status: 501,
      body: { code: 'unimplemented' },
    });
  });
});

describe('a process', () => {
  const broken = async (ending: () => Promise<unknown>) => {
    viewed = ({ sink, signal, end }) => {
      sink.begun(0);
      signal.addEventListener('abort', () => end.reject(signal.reason as Error));
      void ending().then(() => end.reject(new SandhavenError('invalid_state', 'The sandbox has ended.')));
    };
    await streamed('process.Process/Start', { process: { cmd: 'sleep', args: ['60'] } });
  };
  const asked = (path: string, method: string, body?: object) =>
    fetch(`${http.url}${path}`, {
      method,
      headers: { 'x-api-key': MEMBER_KEY, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });

  it('breaks the stream when its sandbox ends, so that clients ask whether it has', async () => {
    await expect(broken(() => asked(`/e2b/api/sandboxes/${id}`, 'DELETE'))).rejects.toThrow('terminated');
  });

  it('breaks the stream when the token is revoked', async () => {
    const revoked = async () => {
      await asked('/v1/admin/RevokeAccess', 'POST', { sandbox: `sb_${id}`, kind: 'token' });
      await new Promise(() => {});
    };
    await expect(broken(revoked)).rejects.toThrow('terminated');
  });

  it('is started once somebody follows it, with its words as they are', async () => {
    viewed = ({ sink, end }) => {
      sink.begun(0);
      void sink.show({ stream: 'stdout', bytes: Buffer.from('out'), leftOutBytes: 0 });
      void sink.show({ stream: 'stderr', bytes: Buffer.from('err'), leftOutBytes: 0 });
      setTimeout(() => end.resolve({ exitCode: 3, signal: null, timedOut: false }), 50);
    };
    let command = '';
    const { start } = processes;
    processes.start = async (caller, reference, request, signal) => {
      ({ command } = request);
      return start(caller, reference, request, signal);
    };
    const process = { cmd: '/bin/bash', args: ['-l', '-c', "echo 'a b'"], envs: { A: 'b' }, cwd: '/tmp' };
    const headers = { 'connect-timeout-ms': '1500', authorization: `Basic ${btoa('ann:')}` };
    expect(await streamed('process.Process/Start', { process, stdin: false }, headers)).toEqual([
      [0, { event: { start: { pid: 7 } } }],
      [0, { event: { data: { stdout: 'b3V0' } } }],
      [0, { event: { data: { stderr: 'ZXJy' } } }],
      [0, { event: { end: { exitCode: 3, exited: true, status: 'exit status 3' } } }],
      [2, {}],
    ]);
    expect(command).toBe("read -r _; exec '/bin/bash' '-l' '-c' 'echo '\\''a b'\\'''");
    expect(processes.calls).toEqual([
      ['start', expect.objectContaining({ cwd: '/tmp', env: { A: 'b' }, user: 'ann', timeoutMs: 2_000 })],
      // The gate, and the end of the input.
      ['write', { process: '7', close: true }, '0a'],
    ]);
  });

  it.each([
    [
      { exitCode: 137, signal: 'SIGKILL', timedOut: false },
      [0, { event: { end: { exitCode: -1, exited: false, status: 'signal: kill', error: 'signal: kill' } } }],
    ],
    [
      { exitCode: 137, signal: 'SIGKILL', timedOut: true },
      [2, { error: { code: 'deadline_exceeded', message: 'The process ran past its time.' } }],
    ],
  ])('ends as %j', async (end, message) => {
    viewed = (view) => {
      view.sink.begun(0);
      view.end.resolve(end);
    };
    const messages = await streamed('process.Process/Start', { process: { cmd: 'sleep', args: ['60'] } });
    expect(messages).toContainEqual(message);
  });

  it('has a terminal, whose output is its own', async () => {
    viewed = ({ sink, end }) => {
      sink.begun(0);
      void sink.show({ stream: 'stdout', bytes: Buffer.from('$'), leftOutBytes: 0 });
      end.resolve({ exitCode: 0, signal: null, timedOut: false });
    };
    const asked = {
      process: { cmd: '/bin/bash', args: ['-i', '-l'] },
      pty: { size: { cols: 100, rows: 30 } },
    };
    expect(await streamed('process.Process/Start', asked)).toContainEqual([
      0,
      { event: { data: { pty: 'JA==' } } },
    ]);
    expect(processes.calls).toEqual([['start', expect.anything()]]);
  });

  it('is listed, written to, signalled and resized, by pid or tag', async () => {
    expect((await plain('process.Process/List', {})).body).toEqual({
      processes: [{ pid: 7, tag: 'web', config: { cmd: '/bin/bash', args: ['-c', 'make serve'], envs: {} } }],
    });
    const process = { pid: 7 };
    await plain('process.Process/SendInput', { process, input: { stdin: btoa('hey') } });
    await plain('process.Process/CloseStdin', { process: { tag: 'web' } });
    await plain('process.Process/SendSignal', { process, signal: 'SIGNAL_SIGTERM' });
    await plain('process.Process/Update', { process, pty: { size: { cols: 90, rows: 20 } } });
    expect(processes.calls).toEqual([
      ['write', { process: '7', close: false }, '686579'],
      ['write', { process: 'web', close: true }, ''],
      ['signal', '7', 'TERM'],
      ['resize', '7', { columns: 90, rows: 20 }],
    ]);
    expect(
      await plain('process.Process/SendSignal', { process: { pid: 8 }, signal: 'SIGNAL_SIGKILL' }),
    ).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('takes input as a stream of messages', async () => {
    const body = Buffer.concat([
      enveloped({ start: { process: { pid: 7 } } }),
      enveloped({ data: { input: { stdin: btoa('a') } } }),
      enveloped({ keepalive: {} }),
      enveloped({ data: { input: { stdin: btoa('b') } } }),
    ]);
    const response = await inside('/process.Process/StreamInput', { method: 'POST', body });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    expect(processes.calls.map(([, , hex]) => hex)).toEqual(['61', '62']);
  });

  it('that is not there is an error of the stream, not of its status', async () => {
    expect(await streamed('process.Process/Connect', { process: { pid: 99 } })).toEqual([
      [2, { error: { code: 'not_found', message: 'process with pid 99 not found' } }],
    ]);
  });

  it('has no compressed and no huge messages', async () => {
    const compressed = enveloped({ process: { cmd: 'ls' } });
    compressed.writeUInt8(1, 0);
    const huge = Buffer.alloc(5);
    huge.writeUInt32BE(4 * 1024 * 1024 + 1, 1);
    for (const body of [compressed, huge, enveloped({}).subarray(0, 4)]) {
      expect(await streamed('process.Process/Start', body)).toMatchObject([
        [2, { error: { code: 'invalid_argument' } }],
      ]);
    }
  });
});

describe('files', () => {
  const bytes = async (response: Response) => [response.status, await response.text()];

  it('are written by a form, by their bytes and compressed, and read', async () => {
    const form = new FormData();
    form.append('file', new Blob(['one']), '/tmp/a b.txt');
    form.append('file', new Blob(['two']), 'c.txt');
    expect(await (await inside('/files', { method: 'POST', body: form })).json()).toEqual([
      { name: 'a b.txt', path: '/tmp/a b.txt', type: 'file' },
      { name: 'c.txt', path: '/home/user/c.txt', type: 'file' },
    ]);
    const stream = new Blob(['three']).stream().pipeThrough(new CompressionStream('gzip'));
    const compressed = Buffer.from(await new Response(stream).arrayBuffer());
    const headers = {
      'content-type': 'application/octet-stream',
      'content-encoding': 'gzip',
      'x-metadata-by': 'me',
    };
    expect(
      await (
        await inside('/files?path=d.txt&username=root', { method: 'POST', body: compressed, headers })
      ).json(),
    ).toEqual([{ name: 'd.txt', path: '/root/d.txt', type: 'file', metadata: { by: 'me' } }]);
    expect(await bytes(await inside('/files?path=/tmp/a%20b.txt'))).toEqual([200, 'one']);
    expect(await bytes(await inside('/files?path=d.txt&username=root'))).toEqual([200, 'three']);
    expect((await inside('/files?path=zz')).status).toBe(404);
  });

  const signature = (...parts: (string | number)[]) =>
    `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`;
  const signed = (query: Record<string, string>) => inside(`/files?${new URLSearchParams(query)}`, {}, null);

  it('are read by a signature of the token, until its end', async () => {
    http.files.set('/home/user/a.txt', { content: Buffer.from('one'), mode: 0o644 });
    const path = 'a.txt';
    expect(await bytes(await signed({ path, signature: signature(path, 'read', '', token) }))).toEqual([
      200,
      'one',
    ]);
    const soon = String(Math.floor(Date.now() / 1_000) + 60);
    const timed = signature(path, 'read', '', token, soon);
    expect((await signed({ path, signature: timed, signature_expiration: soon })).status).toBe(200);
    const past = String(Math.floor(Date.now() / 1_000) - 1);
    const over = { path, signature: signature(path, 'read', '', token, past), signature_expiration: past };
    expect(await bytes(await signed(over))).toEqual([
      401,
      '{"code":401,"message":"signature is already expired"}',
    ]);
    for (const wrong of [
      { path, signature: signature(path, 'write', '', token) },
      { path: 'b.txt', signature: signature(path, 'read', '', token) },
      { path, username: 'root', signature: signature(path, 'read', '', token) },
      { path, signature: timed },
      { path, signature: timed, signature_expiration: `${soon}0` },
      { path, signature: '' },
    ])
      expect((await signed(wrong)).status, JSON.stringify(wrong)).toBe(401);
  });

  it('are read by no signature after a revocation', async () => {
    http.files.set('/home/user/a.txt', { content: Buffer.from('one'), mode: 0o644 });
    const services: Services = http.services;
    await services.accessRevocation.revoke({ id: 'user_2', name: '', email: '' }, `sb_${id}`, ['token']);
    expect((await signed({ path: 'a.txt', signature: signature('a.txt', 'read', '', token) })).status).toBe(
      401,
    );
    expect((await inside('/files?path=a.txt')).status).toBe(401);
  });
});
