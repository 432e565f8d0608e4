/** The front spreads work over the replicas that are ready, and passes what it carries unchanged. */
import { createServer, get, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type Front, type FrontOptions, startFront } from './front.ts';

interface TestReplica {
  name: string;
  host: string;
  port: number;
  isReady: boolean;
  /** Of requests that are no probes. */
  sockets: number;
  /** Of events, that are open. */
  streams: number;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

async function startReplica(name: string): Promise<TestReplica> {
  const seen = new Set<object>();
  let server: Server;
  const replica: TestReplica = {
    name,
    host: '127.0.0.1',
    port: 0,
    isReady: true,
    streams: 0,
    get sockets() {
      return seen.size;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    start: () =>
      new Promise((resolve) => {
        server = createServer((received, response) => {
          if (received.url === '/readyz') {
            response.writeHead(replica.isReady ? 200 : 503).end();
            return;
          }
          seen.add(received.socket);
          if (received.url === '/events') {
            response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
            replica.streams += 1;
            response.on('close', () => (replica.streams -= 1));
            setTimeout(() => response.write(`data: ${name}\n\n`), 20);
            return;
          }
          if (received.url === '/breaks') {
            response.write('half');
            setTimeout(() => response.destroy(), 20);
            return;
          }
          response.setHeader('set-cookie', ['a=1', 'b=2']);
          received.pipe(response.writeHead(200, { 'x-host': received.headers.host ?? '' }));
        });
        server.on('upgrade', (received, socket, head) => {
          if (received.url === '/forbidden') {
            socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
            return;
          }
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\nhello ',
          );
          if (received.url === '/resets') {
            socket.once('data', () => (socket as Socket).resetAndDestroy());
            return;
          }
          socket.write(head);
          socket.pipe(socket);
        });
        server.listen(replica.port, '127.0.0.1', () => {
          replica.port = (server.address() as AddressInfo).port;
          resolve();
        });
      }),
  };
  await replica.start();
  ends.push(() => replica.stop());
  return replica;
}

/** Two replicas, both ready, behind a front. */
async function setUp(mode: FrontOptions['mode']): Promise<{ front: Front; a: TestReplica; b: TestReplica }> {
  const [a, b] = [await startReplica('a'), await startReplica('b')];
  const front = await startFront({ mode, replicas: [a, b], probe: { periodMs: 20 } });
  ends.unshift(() => front.close());
  await expect.poll(front.ready).toEqual(['a', 'b']);
  return { front, a, b };
}

async function servedBy(front: Front): Promise<string | null> {
  const answer = await fetch(`${front.url}/x`);
  await answer.text();
  return answer.headers.get('x-served-by');
}

describe('requests', () => {
  it('go to the replicas in turn, and each answer says which it was', async () => {
    const { front } = await setUp('requests');
    const names = [
      await servedBy(front),
      await servedBy(front),
      await servedBy(front),
      await servedBy(front),
    ];
    expect(names).toEqual(['a', 'b', 'a', 'b']);
    expect(front.served).toEqual(names.map((replica) => ({ replica, request: 'GET /x' })));
  });

  it('arrive with their body and headers, and so do answers', async () => {
    const { front } = await setUp('requests');
    const body = 'x'.repeat(3_000_000);
    const answer = await fetch(`${front.url}/echo`, { method: 'POST', body });
    expect(await answer.text()).toBe(body);
    expect(answer.headers.get('x-host')).toBe(`127.0.0.1:${front.port}`);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    const ofUnknownLength = { body: new Blob([body]).stream(), duplex: 'half' as const };
    const streamed = await fetch(`${front.url}/echo`, { method: 'POST', ...ofUnknownLength });
    expect(await streamed.text()).toBe(body);
  });

  it('skip a replica that is not ready, and one that is gone, until they are ready again', async () => {
    const { front, a, b } = await setUp('requests');
    a.isReady = false;
    await expect.poll(front.ready).toEqual(['b']);
    expect([await servedBy(front), await servedBy(front)]).toEqual(['b', 'b']);
    await b.stop();
    await expect.poll(front.ready).toEqual([]);
    expect((await fetch(front.url)).status).toBe(503);
    expect(front.served.at(-1)).toEqual({ replica: null, request: 'GET /' });
    await b.start();
    a.isReady = true;
    await expect.poll(front.ready).toEqual(['a', 'b']);
  });

  it('go to another port than the one that says whether a replica is ready', async () => {
    const [a, b] = [await startReplica('a'), await startReplica('b')];
    const { name, host, port } = a;
    const replicas = [{ name, host, port, probePort: b.port }];
    const front = await startFront({ mode: 'requests', replicas, probe: { periodMs: 20 } });
    ends.unshift(() => front.close());
    await expect.poll(front.ready).toEqual(['a']);
    expect(await servedBy(front)).toBe('a');
    expect([a.sockets, b.sockets]).toEqual([1, 0]);
    b.isReady = false;
    await expect.poll(front.ready).toEqual([]);
  });

  it('are answered with 502 by a replica that has just gone, and are not tried again', async () => {
    const { front, a, b } = await setUp('requests');
    front.setReplicas([a, b]);
    await Promise.all([a.stop(), b.stop()]);
    const answer = await fetch(front.url);
    expect([answer.status, answer.headers.get('x-served-by')]).toEqual([502, 'a']);
  });

  it('break off where their replica breaks off', async () => {
    const { front } = await setUp('requests');
    const answer = await fetch(`${front.url}/breaks`);
    await expect(answer.text()).rejects.toThrow();
  });

  it('get the events of a stream when they happen', async () => {
    const { front } = await setUp('requests');
    const answer = await new Promise<IncomingMessage>((resolve) => get(`${front.url}/events`, resolve));
    const [event] = await new Promise<Buffer[]>((resolve) => answer.once('data', (...data) => resolve(data)));
    expect(String(event)).toBe('data: a\n\n');
    answer.destroy();
  });

  it('may be upgraded, and then carry bytes both ways', async () => {
    const { front } = await setUp('requests');
    const headers = { connection: 'upgrade', upgrade: 'echo' };
    const said = await new Promise<string>((resolve, reject) => {
      const sent = request(`${front.url}/socket`, { headers });
      sent.on('error', reject).on('upgrade', (answer, socket, head) => {
        socket.end('world');
        void text(socket).then((rest) => resolve(`${answer.headers['x-served-by']}: ${head}${rest}`), reject);
      });
      sent.end();
    });
    expect(said).toBe('a: hello world');
  });

  it('are reset when their replica resets them', async () => {
    const { front } = await setUp('requests');
    const headers = { connection: 'upgrade', upgrade: 'echo' };
    const failure = await new Promise<NodeJS.ErrnoException>((resolve, reject) => {
      const sent = request(`${front.url}/resets`, { headers });
      sent.on('error', reject).on('upgrade', (_answer, socket) => {
        socket
          .on('error', resolve)
          .on('end', () => reject(new Error('it looks like an end')))
          .resume();
        socket.write('reset it');
      });
      sent.end();
    });
    expect(failure.code).toBe('ECONNRESET');
  });

  it('may be refused an upgrade', async () => {
    const { front } = await setUp('requests');
    const headers = { connection: 'upgrade', upgrade: 'echo' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${front.url}/forbidden`, { headers }).on('error', reject).on('response', resolve).end();
    });
    expect([answer.statusCode, await text(answer)]).toEqual([403, 'no']);
  });

  it('end at the replica when the client leaves', async () => {
    const { front, a } = await setUp('requests');
    const leaving = new AbortController();
    await fetch(`${front.url}/events`, { signal: leaving.signal });
    expect(a.streams).toBe(1);
    leaving.abort();
    await expect.poll(() => a.streams).toBe(0);
  });
});

describe('connections', () => {
  it('go to the replicas in turn, with all their requests', async () => {
    const { front, a, b } = await setUp('connections');
    for (let count = 0; count < 4; count++) {
      const answer = await new Promise<IncomingMessage>((resolve) =>
        get(`${front.url}/x`, { agent: false }, resolve),
      );
      expect(answer.headers['x-served-by']).toBeUndefined();
      await text(answer);
    }
    expect([a.sockets, b.sockets]).toEqual([2, 2]);
    expect(front.served.map(({ replica }) => replica)).toEqual(['a', 'b', 'a', 'b']);
  });

  it('stay with a replica that is no longer ready', async () => {
    const { front, a } = await setUp('connections');
    const socket = connect(front.port, '127.0.0.1');
    socket.write('GET /socket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    a.isReady = false;
    await expect.poll(front.ready).toEqual(['b']);
    socket.end('still here');
    expect(await text(socket)).toMatch(/still here$/);
  });

  it('are reset when no replica is ready', async () => {
    const { front, a, b } = await setUp('connections');
    a.isReady = false;
    b.isReady = false;
    await expect.poll(front.ready).toEqual([]);
    await expect(fetch(front.url)).rejects.toThrow();
    expect(front.served).toEqual([{ replica: null, request: '' }]);
  });
});
