/** A TCP proxy in front of the server, whose line can be cut, be silent and be wrapped in TLS. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { serverAddress } from '../server.ts';

export interface Proxy {
  readonly port: number;
  /** Clients connected at this moment. */
  readonly connections: number;
  /** All that clients sent, as text. */
  sent(): string;
  /** Bytes that the server sent. */
  readonly receivedBytes: number;
  /** Breaks every connection; new ones are refused until `resume`. */
  cut(): Promise<void>;
  /** As `cut`: the connections that the driver watches the server by end, the others are reset. */
  cutUnevenly(): Promise<void>;
  resume(): Promise<void>;
  /** Changes what clients send on its way. */
  rewrite: (data: Buffer) => Buffer;
  /** Changes what the server sends on its way. */
  rewriteAnswer: (data: Buffer) => Buffer;
  /** Keeps connections and lets nothing through, from now on. */
  silence(): void;
}

const LOGIN = 'saslStart';

/** The field `id` of an answer whose cursor the server has closed: a long of 0. */
const CLOSED_CURSOR = Buffer.from('\x12id\0\0\0\0\0\0\0\0\0', 'latin1');

/** Makes it an answer of a server that left the cursor open. False where it has no cursor that was closed. */
export function leaveCursorOpen(answer: Buffer): boolean {
  const closed = answer.indexOf(CLOSED_CURSOR);
  if (closed === -1) return false;
  answer[closed + CLOSED_CURSOR.length - 1] = 1;
  return true;
}

/** For this test. */
export async function startProxy(tls?: TlsOptions): Promise<Proxy> {
  const proxy = await openProxy(tls);
  onTestFinished(proxy.close);
  return proxy;
}

export async function openProxy(tls?: TlsOptions): Promise<Proxy & { close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const loggedIn = new Set<Socket>();
  const sent: Buffer[] = [];
  let connections = 0;
  let receivedBytes = 0;
  let isSilent = false;

  const accept = (client: Socket) => {
    const upstream = connect(serverAddress());
    connections++;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('close', () => {
      connections--;
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    client.on('data', (data: Buffer) => {
      sent.push(data);
      if (data.includes(LOGIN)) loggedIn.add(client);
      if (!isSilent) upstream.write(proxy.rewrite(data));
    });
    upstream.on('data', (data: Buffer) => {
      receivedBytes += data.length;
      if (isSilent || client.write(proxy.rewriteAnswer(data))) return;
      upstream.pause();
      client.once('drain', () => upstream.resume());
    });
  };
  const listen = async (port: number): Promise<Server> => {
    const server = tls ? createTlsServer(tls, accept) : createServer(accept);
    // A handshake that fails is what some tests are about.
    server.on('tlsClientError', () => {});
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const cutUnevenly = async () => {
    for (const socket of sockets) if (!loggedIn.has(socket)) socket.destroy();
    for (const socket of loggedIn) socket.resetAndDestroy();
    await cut();
  };
  const proxy: Proxy & { close(): Promise<void> } = {
    port,
    rewrite: (data) => data,
    rewriteAnswer: (data) => data,
    get connections() {
      return connections;
    },
    sent: () => Buffer.concat(sent).toString('latin1'),
    get receivedBytes() {
      return receivedBytes;
    },
    cut,
    cutUnevenly,
    async close() {
      if (server.listening) await cut();
    },
    async resume() {
      isSilent = false;
      server = await listen(port);
    },
    silence() {
      isSilent = true;
    },
  };
  return proxy;
}
