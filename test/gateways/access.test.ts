/** Access to a real sandbox: to one that is started alone, and until it is taken back. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { act, mustAct } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { accessTo, inside, makeSandbox, SshClient } from './ssh/client.ts';
import { open, visit } from './visitor.ts';

const PORT = 8000;
const HEADER = 'x-sandbox-preview-token';
/** Answers each request with its first bytes and never ends. */
const SERVER = `
import http.server, time
class Stream(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"first")
        self.wfile.flush()
        if self.path == "/stream": time.sleep(3600)
http.server.ThreadingHTTPServer(("127.0.0.1", ${PORT}), Stream).serve_forever()
`;

let service: Service;
let client: SshClient;
let sandbox: string;

beforeAll(async () => {
  service = await startService();
  client = new SshClient();
  sandbox = await makeSandbox(service);
  await serve();
}, 120_000);

afterAll(async () => {
  client?.[Symbol.dispose]();
  await service?.stop();
}, 60_000);

async function serve(): Promise<void> {
  await must(service, 'WriteFile', { sandbox, path: 'server.py', content: SERVER });
  await inside(
    service,
    sandbox,
    `nohup python3 server.py --of 'a test' >/dev/null 2>&1 & until curl -s 127.0.0.1:${PORT}; do sleep 0.1; done`,
  );
}

async function preview(parameters: Record<string, unknown> = {}) {
  const result = await must(service, 'GetPortPreviewUrl', { sandbox, port: PORT, ...parameters });
  return result as { url: string; token: string };
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.on('error', () => {});
    stream.once('close', resolve);
    stream.resume();
  });
}

const standardStatus = async ({ url, token }: { url: string; token: string }) =>
  (await visit(url, { headers: { [HEADER]: token } })).status;

/** An SSH connection on which a command runs. */
async function logIn() {
  const access = await accessTo(service, sandbox);
  const child = client.start('ssh', client.arguments(access, [], ['echo in; sleep 3600']));
  const ended = once(child, 'close');
  await once(child.stdout ?? child, 'data');
  return { access, child, ended };
}

describe('Sandbox.ListPorts', () => {
  it('gives the process and its command', async () => {
    const pid = Number(await inside(service, sandbox, "pgrep -f '^python3 server.py'"));
    const { ports } = await must(service, 'ListPorts', { sandbox });
    expect(ports).toEqual([
      { port: PORT, state: 'listening', name: 'python3', pid, command: 'python3 server.py --of a test' },
    ]);
  });

  it('cuts a long command at 200 characters', async () => {
    const listen = (port: number) =>
      `import socket, time; s = socket.socket(); s.bind(("127.0.0.1", ${port})); s.listen(); time.sleep(60)`;
    const long = '🦀'.repeat(300);
    await inside(
      service,
      sandbox,
      `nohup python3 -c '${listen(8101)}' ${long} >/dev/null 2>&1 & until ss -ltn | grep -q 8101; do sleep 0.05; done`,
    );
    const { ports } = await must(service, 'ListPorts', { sandbox });
    const found = (ports as { port: number; command: string }[]).find(({ port }) => port === 8101);
    const command = `python3 -c ${listen(8101)} ${long}`;
    expect([...(found?.command ?? '')]).toEqual([...command].slice(0, 200));
  });
});

describe('one token', () => {
  it('of SSH is shown and revoked alone, with what is open by it', async () => {
    const other = await accessTo(service, sandbox);
    const { access, ended } = await logIn();
    const token = access.access_token;
    expect(await mustAct(service, 'GetAccessToken', { token })).toMatchObject({
      ...{ sandbox, kind: 'ssh', port: null },
    });
    expect(await mustAct(service, 'RevokeAccessToken', { sandbox, token })).toMatchObject({
      ...{ sandbox, kind: 'ssh', revoked: true },
    });
    await ended;
    expect((await client.ssh(access, ['true'])).stderr).toContain('Permission denied');
    expect(String((await client.ssh(other, ['echo in'])).stdout)).toBe('in\n');
    expect((await act(service, 'GetAccessToken', { token })).body).toMatchObject({ code: 'not_found' });
    await mustAct(service, 'RevokeAccessToken', { sandbox, token: other.access_token });
  });

  it('of a signed preview is revoked alone', async () => {
    const [one, other] = [await preview({ signed: true }), await preview({ signed: true })];
    const [, token = ''] = /^\d+-([a-z2-7]{26})\./.exec(new URL(one.url).host) ?? [];
    expect(await mustAct(service, 'RevokeAccessToken', { sandbox, token })).toMatchObject({
      ...{ kind: 'preview', port: PORT, revoked: true },
    });
    expect((await visit(one.url)).status).not.toBe(200);
    expect((await visit(other.url)).status).toBe(200);
    await mustAct(service, 'RevokeAccess', { sandbox, kind: 'preview' });
  });
});

describe('access that is revoked', () => {
  it('over SSH ends what is open by it and lets nobody in, and leaves previews alone', async () => {
    const { access, child, ended } = await logIn();
    const standard = await preview();
    const signed = await preview({ signed: true });
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    expect(await mustAct(service, 'RevokeAccess', { sandbox, kind: 'ssh' })).toEqual({
      ...{ sandbox, ssh: 1, previews: 0, revoked: true },
    });
    await ended;
    expect(said).toContain('revoked');
    expect((await client.ssh(access, ['true'])).stderr).toContain('Permission denied');
    expect(await standardStatus(standard)).toBe(200);
    expect((await visit(signed.url)).status).toBe(200);
    expect((await client.ssh(await accessTo(service, sandbox), ['true'])).code).toBe(0);
  }, 60_000);

  it('to previews ends what is open by signed and by standard ones, and leaves SSH alone', async () => {
    const standard = await preview();
    const signed = await preview({ signed: true });
    const { access, child } = await logIn();
    const streams = [
      await open(`${signed.url}stream`),
      await open(`${standard.url}stream`, { headers: { [HEADER]: standard.token } }),
    ];
    for (const stream of streams) await once(stream, 'data');
    const ends = Promise.all(streams.map(closed));
    const { previews } = await mustAct(service, 'RevokeAccess', { sandbox, kind: 'preview' });
    expect(previews).toBeGreaterThanOrEqual(1);
    await ends;
    expect((await visit(signed.url)).status).toBe(401);
    expect(await standardStatus(standard)).toBe(401);
    const another = await preview();
    expect(another.url).toBe(standard.url);
    expect(another.token).not.toBe(standard.token);
    expect(await standardStatus(another)).toBe(200);
    expect(child.exitCode).toBeNull();
    expect((await client.ssh(access, ['true'])).code).toBe(0);
  }, 60_000);

  it('is of both kinds unless one is named, by the name of the sandbox too, and in the audit log', async () => {
    const { name } = await must(service, 'GetSandbox', { sandbox });
    const [standard, { access, ended }] = [await preview(), await logIn()];
    expect(await mustAct(service, 'RevokeAccess', { sandbox: name })).toMatchObject({
      sandbox,
      revoked: true,
    });
    await ended;
    expect(await standardStatus(standard)).toBe(401);
    expect((await client.ssh(access, ['true'])).code).toBe(255);
    expect(await mustAct(service, 'RevokeAccess', { sandbox })).toMatchObject({ ssh: 0, previews: 0 });
    const { rows } = await mustAct(service, 'ListAudit', { action: 'RevokeAccess' });
    expect(rows).toContainEqual(expect.objectContaining({ outcome: 'ok', sandbox_id: sandbox }));
  }, 60_000);

  it.each([{}, { sandbox: 'x', kind: 'git' }])(
    'needs a sandbox, and knows two kinds: %j',
    async (parameters) => {
      expect((await act(service, 'RevokeAccess', parameters)).body).toMatchObject({
        code: 'invalid_argument',
      });
    },
  );
});

describe('a sandbox that is not started', () => {
  it('gives no access, with advice; earlier access can be revoked, over a restart too', async () => {
    const [standard, signed] = [await preview(), await preview({ signed: true })];
    const ssh = await accessTo(service, sandbox);
    await must(service, 'StopSandbox', { sandbox });
    const asked = [
      await call(service, 'CreateSshAccess', { sandbox }),
      await call(service, 'GetPortPreviewUrl', { sandbox, port: PORT }),
      await call(service, 'GetPortPreviewUrl', { sandbox, port: PORT, signed: true }),
    ];
    for (const { status, body } of asked) {
      expect({ status, ...body }).toMatchObject({
        ...{ status: 409, code: 'invalid_state' },
        hint: expect.stringContaining('StartSandbox'),
      });
      expect(body).not.toHaveProperty('token');
    }
    expect(await mustAct(service, 'RevokeAccess', { sandbox })).toMatchObject({ ssh: 1, previews: 1 });
    await service.terminate();
    await service.restart();
    await must(service, 'StartSandbox', { sandbox });
    await serve();
    const { url, token } = await preview();
    expect(await standardStatus({ url, token })).toBe(200);
    expect(await standardStatus({ url, token: standard.token })).toBe(401);
    const moved = signed.url.replace(/:\d+\//, `:${new URL(url).port}/`);
    expect((await visit(moved)).status).toBe(401);
    const { port } = await accessTo(service, sandbox);
    expect((await client.ssh({ ...ssh, port }, ['true'])).stderr).toContain('Permission denied');
  }, 120_000);
});
