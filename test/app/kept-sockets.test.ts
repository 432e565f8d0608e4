import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { takeEnvironment } from '../../src/app/options/environment.ts';
import { KeptSockets, socketsGiven } from '../../src/app/parts/kept-sockets.ts';

const own = { LISTEN_PID: String(process.pid) };

describe('the environment', () => {
  it('names the sockets of this process, from file 3 on, among others', () => {
    const given = socketsGiven({
      ...own,
      LISTEN_FDS: '3',
      LISTEN_FDNAMES: 'listen-a%3A1:other:ssh-listen-b%3A2',
    });
    expect([...given]).toEqual([
      ['listen-a%3A1', 3],
      ['ssh-listen-b%3A2', 5],
    ]);
  });

  it.each([
    ['nothing', {}],
    ['another process', { LISTEN_PID: '1', LISTEN_FDS: '1', LISTEN_FDNAMES: 'listen-a%3A1' }],
    ['no number', { ...own, LISTEN_FDS: 'many', LISTEN_FDNAMES: 'listen-a%3A1' }],
    ['none', { ...own, LISTEN_FDS: '0', LISTEN_FDNAMES: '' }],
    ['a negative number', { ...own, LISTEN_FDS: '-1', LISTEN_FDNAMES: 'listen-a%3A1:listen-b%3A1' }],
    ['sockets without names', { ...own, LISTEN_FDS: '2' }],
  ])('with %s names no socket', (_, environment) => {
    expect([...socketsGiven(environment)]).toEqual([]);
  });

  it('is not handed on to programs', () => {
    const environment = { ...own, LISTEN_FDS: '1', LISTEN_FDNAMES: 'listen-a%3A1' };
    takeEnvironment(environment);
    expect(environment).toEqual({});
  });
});

describe('kept sockets', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('are used for the address that they were opened for, once', () => {
    const kept = new KeptSockets(new Map([['listen-%3A%3A1%3A7420', 7]]));
    const address = { host: '::1', port: 7420 };
    expect(kept.has('--listen', address)).toBe(true);
    expect(kept.has('--ssh-listen', address)).toBe(false);
    expect(kept.has('--listen', { ...address, port: 7421 })).toBe(false);
    expect(kept.at('--listen', address)).toEqual({ host: '::1', port: 7420, fd: 7 });
    expect(kept.at('--listen', address)).toEqual(address);
  });

  it('are those of listeners on their chosen port', async () => {
    const kept = new KeptSockets(new Map());
    const chosen = await listen();
    kept.opened('--listen', { host: '127.0.0.1', port: chosen.port }, chosen.server);
    const free = await listen();
    kept.opened('--ssh-listen', { host: '127.0.0.1', port: 7422 }, free.server);
    expect(kept.settle()).toEqual({
      keep: [{ name: `listen-127.0.0.1%3A${chosen.port}`, file: expect.any(Number) }],
      forget: [],
    });
  });

  async function listen(): Promise<{ server: Server; port: number }> {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, port: (server.address() as { port: number }).port };
  }
});
