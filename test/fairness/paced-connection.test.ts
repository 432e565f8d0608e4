/** A paced connection loses nothing, changes no order, and holds what nobody reads where it comes from. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { paceConnections, readNoMore } from '../../src/fairness/paced-connection.ts';
import { type MadeCertificate, makeCertificate } from '../support/certificates.ts';
import { longestTurn } from '../support/event-loop.ts';

let certificate: MadeCertificate;
beforeAll(() => {
  certificate = makeCertificate(['IP:127.0.0.1']);
});
afterAll(() => certificate?.remove());

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

describe.each(['plain', 'TLS'])('%s', (kind) => {
  it('brings a body whole, however it was cut and read', async () => {
    const body = randomBytes(3_000_000);
    const { client } = await reached(kind, async (request) => {
      const hash = createHash('sha256');
      let pieces = 0;
      for await (const piece of request) {
        hash.update(piece);
        if (++pieces % 20 === 0) await sleep(1);
      }
      return hash.digest('hex');
    });
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
    for (let at = 0, bytes = 1; at < body.length; at += bytes, bytes = (bytes * 7) % 100_003) {
      client.write(body.subarray(at, at + bytes));
    }
    expect(await text(client)).toContain(createHash('sha256').update(body).digest('hex'));
  });

  it('answers every request that came in one piece, in their order', async () => {
    const { client } = await reached(kind, async ({ url }) => `<${url}>`);
    const requests = Array.from({ length: 500 }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`);
    client.write(`${requests.join('')}GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const answers = (await text(client)).match(/<\/\d+>/g);
    expect(answers).toEqual(Array.from({ length: 500 }, (_, n) => `</${n}>`));
  });

  it('leaves with its sender what its reader does not take', async () => {
    const { client, connection } = await reached(kind, async (request) => {
      await once(request, 'close');
      return '';
    });
    client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n');
    const socket = await connection;
    await fillsUp(client);
    expect(socket.bytesRead).toBeLessThan(20_000_000);
    expect(socket.readableLength).toBeLessThan(200_000);
  });

  it('reads no more after it was said so', async () => {
    const { client, connection } = await reached(kind, (request) => text(request));
    client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n');
    const socket = await connection;
    client.write(Buffer.alloc(100_000));
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(100_000);
    readNoMore(socket);
    await fillsUp(client);
    expect(socket.bytesRead).toBeLessThan(1_000_000);
  });
});

it('takes a body of chunks of one byte in many turns of the loop', async () => {
  const { client } = await reached('plain', async (request) => String((await text(request)).length));
  const { ms, result } = await longestTurn(() => {
    client.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
    client.write(`${'1\r\nx\r\n'.repeat(500_000)}0\r\n\r\n`);
    return text(client);
  });
  expect(result).toContain('500000');
  expect(ms).toBeLessThan(100);
});

/** A connection to a server that answers each request with what `answer` resolves with. */
async function reached(
  kind: string,
  answer: (request: IncomingMessage) => Promise<string>,
): Promise<{ client: Socket; connection: Promise<Socket> }> {
  const secure = kind === 'TLS';
  const server: Server = secure
    ? createSecureServer({ cert: certificate.pem(), key: certificate.key() })
    : createServer();
  paceConnections(server, secure ? 'secureConnection' : 'connection');
  server.on('request', async (request, response) => {
    request.on('error', () => {});
    response.end(await answer(request).catch(() => ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = once(server, secure ? 'secureConnection' : 'connection').then(([socket]) => socket);
  const { port } = server.address() as { port: number };
  const to = { port, host: '127.0.0.1', allowHalfOpen: true };
  const client = secure ? connect({ ...to, ca: certificate.pem() }) : connectTcp(to);
  client.on('error', () => {});
  open.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  await once(client, secure ? 'secureConnect' : 'connect');
  return { client, connection };
}

/** Sends until nothing has left for half a second. */
async function fillsUp(client: Socket): Promise<void> {
  const piece = Buffer.alloc(64 * 1024);
  for (;;) {
    if (client.write(piece)) continue;
    const left = await Promise.race([once(client, 'drain').then(() => true), sleep(500, false)]);
    if (!left) return;
  }
}
