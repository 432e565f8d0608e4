/** The service's end: whoever is not the agent of that sandbox and generation gets nothing. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { certifySandbox, certifyService } from '../../../src/agent-link/authority.ts';
import { createConnector, TlsSessions } from '../../../src/agent-link/connector.ts';
import { startTlsServer } from './carry.ts';
import { newInstallation } from './installation.ts';

const HANDSHAKE_MS = 5_000;

const ID = 'sb_0123456789abcdef';
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

const installation = newInstallation();
const { authority, service } = installation;

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(async () => {
  await cleanup.disposeAsync();
});

function closing<T extends Server>(server: T): T {
  const open = new Set<Duplex>();
  server.on('connection', (socket: Duplex) => open.add(socket.on('error', () => {})));
  cleanup.defer(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return server;
}

async function agentWith(pair: { certificate: string; key: string }, options = {}): Promise<Server> {
  const server = closing(await startTlsServer({ ...pair, ca: authority.certificate, ...options }));
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => socket.write(chunk));
  });
  return server;
}

const own = () => certifySandbox(authority, ID, 7, Date.now());

function open(server: Server, by = createConnector(authority.certificate, service)): Promise<Duplex> {
  const { port } = server.address() as AddressInfo;
  return by.open({ sandboxId: ID, generation: 7, host: '127.0.0.1', port });
}

async function echoed(channel: Duplex): Promise<string> {
  channel.write('ping');
  const [answer] = await once(channel, 'data');
  return String(answer);
}

describe('a channel', () => {
  it('carries bytes once both have shown who they are', async () => {
    const channel = await open(await agentWith(own()));
    expect(await echoed(channel)).toBe('ping');
    channel.destroy();
  });

  it('resumes the session of the one before, with that agent alone', async () => {
    const connector = createConnector(authority.certificate, service);
    const agent = await agentWith(own());
    const resumed: boolean[] = [];
    for (let index = 0; index < 3; index++) {
      const channel = (await open(agent, connector)) as TLSSocket;
      await echoed(channel);
      resumed.push(channel.isSessionReused());
      channel.destroy();
    }
    expect(resumed).toEqual([false, true, true]);
    // Another process has another key for its sessions.
    const restarted = (await open(await agentWith(own()), connector)) as TLSSocket;
    expect(restarted.isSessionReused()).toBe(false);
    const stranger = await agentWith(certifySandbox(authority, ID, 8, Date.now()));
    await expect(open(stranger, connector)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('speaks TLS 1.3 alone', async () => {
    const old = await agentWith(own(), { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
    await expect(open(old)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('an agent is refused', () => {
  const elsewhere = newInstallation();
  const now = Date.now();
  it.each([
    ['of another sandbox', certifySandbox(authority, 'sb_zzzzzzzzzzzzzzzz', 7, now), 'Another sandbox'],
    ['of an older generation', certifySandbox(authority, ID, 6, now), 'Another sandbox'],
    ['of a newer generation', certifySandbox(authority, ID, 8, now), 'Another sandbox'],
    ['of another installation', certifySandbox(elsewhere.authority, ID, 7, now), 'no certificate of this'],
    ['with the certificate of a service', certifyService(authority, 'abc123', now), 'no certificate of this'],
    ['whose certificate has expired', certifySandbox(authority, ID, 7, now - YEAR_MS - 1_000), 'not valid'],
    ['whose certificate is of the future', certifySandbox(authority, ID, 7, now + YEAR_MS), 'not valid'],
  ])('%s', async (_, pair, detail) => {
    const begun = performance.now();
    await expect(open(await agentWith(pair))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(detail),
    });
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  it('that speaks no TLS', async () => {
    const plain = closing(createServer((socket) => socket.end('\x05\0\0\0\x02hello')));
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    await expect(open(plain)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that never answers, after the timeout of a handshake', async () => {
    const silent = closing(createServer(() => {}));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const connected = once(silent, 'connection');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const refused = vi.fn();
    const opening = open(silent).catch(refused);
    await connected;
    await vi.advanceTimersByTimeAsync(HANDSHAKE_MS - 1);
    expect(refused).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await opening;
    expect(refused.mock.calls).toMatchObject([
      [{ code: 'unavailable', cause: { message: 'no answer of TLS after 5000 ms' } }],
    ]);
  });

  it('that does not listen, at once unless it is starting', async () => {
    const gone = createServer();
    gone.listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const connector = createConnector(authority.certificate, service);
    const address = { sandboxId: ID, generation: 7, host: '127.0.0.1', port };
    await expect(connector.open(address)).rejects.toMatchObject({ code: 'unavailable' });

    let late: Server | undefined;
    setTimeout(async () => {
      late = await agentWith(own(), { port });
    }, 200);
    const channel = await connector.open(address, () => true);
    expect(await echoed(channel)).toBe('ping');
    channel.destroy();
    late?.close();
  });
});

it('a session is kept for the newest agents, and none that is too large', () => {
  const sessions = new TlsSessions();
  sessions.keep('large', Buffer.alloc(8 * 1024 + 1));
  expect(sessions.of('large')).toBeUndefined();
  for (let index = 0; index <= 4_096; index++) sessions.keep(`agent ${index}`, Buffer.of(index));
  expect(sessions.of('agent 0')).toBeUndefined();
  expect(sessions.of('agent 1')).toEqual(Buffer.of(1));
  expect(sessions.of('agent 4096')).toEqual(Buffer.of(4_096));
});
