/** GET /v1/sandboxes/{sandbox}/tunnel against a real service and programs in a real sandbox. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTunnel } from '../../../src/surfaces/cli/tunnel-client.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

const CONCURRENT_CONNECTIONS = 256;

/** By port: says back what it is told; its digest once it has ended; reads nothing and hangs up once told; sends for ever. */
const PORTS = { echo: 4001, digest: 4002, deaf: 4003, talker: 4004 };
const PROGRAM = `
import hashlib, os, socket, socketserver, struct, threading, time
def echo(s):
    while data := s.recv(65536): s.sendall(data)
def digest(s):
    h = hashlib.sha256()
    while data := s.recv(65536): h.update(data)
    time.sleep(0.2)
    s.sendall(h.hexdigest().encode())
def deaf(s):
    while not os.path.exists('hang-up'): time.sleep(0.05)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()
def talker(s):
    while True: s.sendall(bytes(65536))
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512
for port, talk in { ${PORTS.echo}: echo, ${PORTS.digest}: digest, ${PORTS.deaf}: deaf, ${PORTS.talker}: talker }.items():
    class Handler(socketserver.BaseRequestHandler):
        talk = staticmethod(talk)
        def handle(self): self.talk(self.request)
    threading.Thread(target=Server(('127.0.0.1', port), Handler).serve_forever).start()
print('serving', flush=True)
`;

let service: Service;
let sandbox: string;
const opened: Socket[] = [];

beforeAll(async () => {
  service = await startService();
  sandbox = await serve('tunnels');
});

afterEach(() => {
  for (const socket of opened.splice(0)) socket.resetAndDestroy();
});

afterAll(() => service?.stop());

async function serve(name: string): Promise<string> {
  const created = await must(service, 'CreateSandbox', { name, memory_gb: 1, disk_gb: 1 });
  await must(service, 'WriteFile', { sandbox: name, path: 'server.py', content: PROGRAM });
  await must(service, 'RunCommand', {
    sandbox: name,
    command: 'nohup python3 server.py > log 2>&1 & until grep -q serving log; do sleep 0.05; done',
  });
  return String(created['id']);
}

async function tunnel(port: number, inside = sandbox): Promise<Socket> {
  const outcome = await openTunnel(service, { sandbox: inside, port }, AbortSignal.timeout(10_000));
  if (outcome.problem) throw new Error(JSON.stringify(outcome.problem));
  const { connection, early } = outcome;
  opened.push(connection);
  connection.on('error', () => {});
  if (early.length > 0) connection.unshift(early);
  return connection;
}

async function refusal(port: number, inside = sandbox, apiKey = service.apiKey) {
  const target = { sandbox: inside, port };
  const outcome = await openTunnel({ ...service, apiKey }, target, AbortSignal.timeout(10_000));
  outcome.connection?.resetAndDestroy();
  return outcome.problem;
}

/** Resolves with all that comes back until the connection ends. */
function raw(lines: string[]): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  opened.push(socket);
  socket.on('error', () => {});
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.once('close', () => resolve());
    socket.resume();
  });
}

describe('a tunnel', () => {
  it('carries bytes both ways at once, as they are', async () => {
    const sent = randomBytes(20_000_000);
    const connection = await tunnel(PORTS.echo);
    const back = buffer(connection);
    connection.end(sent);
    expect((await back).equals(sent)).toBe(true);
  });

  it('passes on the end of one direction and leaves the other open', async () => {
    const sent = randomBytes(3_000_000);
    const connection = await tunnel(PORTS.digest);
    connection.end(sent);
    expect(await text(connection)).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('takes what is sent right behind the request', async () => {
    const { host } = new URL(service.url);
    const lines = [
      `GET /v1/sandboxes/${sandbox}/tunnel?port=${PORTS.echo} HTTP/1.1`,
      ...[`Host: ${host}`, `X-API-Key: ${service.apiKey}`, 'Connection: Upgrade', 'Upgrade: TCP'],
    ];
    const socket = connect(Number(host.split(':')[1]), '127.0.0.1');
    opened.push(socket);
    socket.end(`${lines.join('\r\n')}\r\n\r\nearly bytes`);
    const [head, rest] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    expect(rest).toBe('early bytes');
  });

  it('takes no more than the program reads, and gives no more than the client does', async () => {
    const deaf = await tunnel(PORTS.deaf);
    const piece = randomBytes(65_536);
    let stalled = false;
    for (let taken = 0; !stalled && taken < 200_000_000; taken += piece.length) {
      if (deaf.write(piece)) continue;
      stalled = !(await Promise.race([once(deaf, 'drain').then(() => true), sleep(1_000, false)]));
    }
    expect(stalled).toBe(true);
    // The program hangs up with bytes unread.
    await must(service, 'RunCommand', { sandbox, command: 'touch hang-up' });
    await Promise.race([text(deaf).catch(() => ''), closed(deaf)]);

    const talker = await tunnel(PORTS.talker);
    talker.pause();
    const before = await memory();
    await sleep(2_000);
    expect((await memory()) - before).toBeLessThan(64_000_000);
  });

  it('ends when the client leaves, inside too', async () => {
    const connection = await tunnel(PORTS.echo);
    const established = async () => (await connections()).filter((port) => port === PORTS.echo).length;
    const before = await established();
    expect(before).toBeGreaterThan(0);
    connection.resetAndDestroy();
    await expect.poll(established).toBe(before - 1);
  });

  it('ends when its sandbox is stopped', async () => {
    const other = await serve('stopped');
    const connection = await tunnel(PORTS.echo, other);
    const ended = text(connection).catch((error: NodeJS.ErrnoException) => error.code);
    await must(service, 'StopSandbox', { sandbox: other });
    // The program ends before its agent, whose end resets the connection; a busy client sees both at once.
    expect(await ended).toBeOneOf(['', 'ECONNRESET']);
    if (!connection.destroyed) {
      const over = closed(connection);
      connection.write('more');
      await over;
    }
    expect(connection.errored).not.toBeNull();
    expect(await refusal(PORTS.echo, other)).toMatchObject({ code: 'invalid_state', status: 409 });
    await must(service, 'DeleteSandbox', { sandbox: other });
  });

  it('counts as a connection of its sandbox, of which there is a bound', async () => {
    const all = await Promise.all(Array.from({ length: CONCURRENT_CONNECTIONS }, () => tunnel(PORTS.echo)));
    expect(await refusal(PORTS.echo)).toMatchObject({ code: 'resource_exhausted', retryable: true });
    // Calls have turns of their own.
    expect(await must(service, 'RunCommand', { sandbox, command: 'echo in' })).toMatchObject({
      stdout: 'in\n',
    });
    for (const socket of all) socket.resetAndDestroy();
    await expect.poll(() => refusal(PORTS.echo)).toBeUndefined();
  });
});

describe('a refusal is a problem like any other', () => {
  it.each([
    [
      'a port where nothing listens',
      4_999,
      undefined,
      { status: 404, code: 'not_found', resource: 'port', hint: expect.any(String) },
    ],
    ['a port that is none', 65_536, undefined, { status: 400, code: 'invalid_argument', parameter: 'port' }],
    ['another', 0, undefined, { status: 400, code: 'invalid_argument', parameter: 'port' }],
    ['a sandbox that is none', 80, 'nope', { status: 404, code: 'not_found', resource: 'sandbox' }],
  ])('%s', async (_what, port, inside, problem) => {
    expect(await refusal(port, inside)).toMatchObject(problem);
  });

  it('[WIRE-HTTP-01] needs the key, a known Host and no foreign Origin', async () => {
    expect(await refusal(PORTS.echo, sandbox, 'wrong')).toMatchObject({ status: 401 });
    const { host } = new URL(service.url);
    const upgrade = ['Connection: Upgrade', 'Upgrade: tcp', `X-API-Key: ${service.apiKey}`];
    const line = `GET /v1/sandboxes/${sandbox}/tunnel?port=${PORTS.echo} HTTP/1.1`;
    expect(await raw([line, 'Host: evil.example', ...upgrade])).toMatch(/^HTTP\/1\.1 421 /);
    const foreign = [line, `Host: ${host}`, 'Origin: https://evil.example', ...upgrade];
    expect(await raw(foreign)).toMatch(/^HTTP\/1\.1 403 [\s\S]*"permission_denied"/);
  });

  it('a request that asks for no upgrade, for another one, or has a body', async () => {
    const path = `${service.url}/v1/sandboxes/${sandbox}/tunnel?port=${PORTS.echo}`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${service.apiKey}` } });
    expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'tcp']);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toMatchObject({ code: 'invalid_argument', parameter: 'Upgrade' });
    const lines = [
      `GET /v1/sandboxes/${sandbox}/tunnel?port=${PORTS.echo} HTTP/1.1`,
      ...[`Host: ${new URL(service.url).host}`, `X-API-Key: ${service.apiKey}`],
    ];
    const closing = [...lines, 'Connection: Upgrade, close'];
    expect(await raw([...closing, 'Upgrade: websocket'])).toMatch(/^HTTP\/1\.1 426 /);
    expect(await raw([...closing, 'Upgrade: tcp', 'Content-Length: 1'])).toMatch(/^HTTP\/1\.1 426 /);
  });

  it('an upgrade on any other route is answered as if it had not been asked for', async () => {
    const lines = ['GET /healthz HTTP/1.1', `Host: ${new URL(service.url).host}`];
    const answer = await raw([...lines, 'Connection: Upgrade', 'Upgrade: tcp']);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"ok"/);
  });
});

describe('the service', () => {
  it('ends within its grace though tunnels are open, and logs each once, without an error', async () => {
    const connection = await tunnel(PORTS.echo);
    const over = closed(connection);
    const begun = performance.now();
    await service.restart();
    await over;
    expect(performance.now() - begun).toBeLessThan(15_000);
    const lines = () => service.log().split('\n');
    const isLogged = () => lines().some((line) => line.includes('/tunnel') && line.includes('"status":101'));
    await expect.poll(isLogged).toBe(true);
    expect(lines().filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(await text((await tunnel(PORTS.digest)).end())).toHaveLength(64);
  });

  it('lets no secret into its log', async () => {
    await must(service, 'RunCommand', { sandbox, command: 'echo hunter2', env: { PASSWORD: 'hunter2' } });
    await call(service, 'RunCommand', { sandbox, command: 5, env: { 'hunter2!': 'hunter2' } });
    await fetch(`${service.url}/v1/sandboxes/${sandbox}/files?path=hunter2`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    expect(service.log()).not.toContain('hunter2');
    expect(service.log()).not.toContain(service.apiKey);
  });
});

async function memory(): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024;
}

/** The local port of every connection inside that is established. */
async function connections(): Promise<number[]> {
  const command = 'awk \'$4 == "01" { print $2 }\' /proc/net/tcp';
  const { stdout } = await must(service, 'RunCommand', { sandbox, command });
  return String(stdout)
    .split('\n')
    .map((address) => Number.parseInt(address.split(':')[1] ?? '', 16));
}
