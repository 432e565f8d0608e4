/** Listens, with TLS and without on one port: a client's first byte decides. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { Connection, type Services } from './connection.ts';
import { limits } from './limits.ts';

export interface TlsFiles {
  cert: string | Buffer;
  key: string | Buffer;
  /** Clients without TLS are refused. */
  isRequired: boolean;
}

/** First byte of a TLS handshake. */
const HANDSHAKE = 0x16;

export class GatewayServer {
  readonly #services: Services;
  readonly #tls: { context: SecureContext; isRequired: boolean } | null;
  readonly #server: Server;
  readonly #connections = new Map<Connection, Socket>();
  #lastId = 0;

  constructor(services: Services, tls: TlsFiles | null) {
    this.#services = services;
    this.#tls = tls && { context: createSecureContext(tls), isRequired: tls.isRequired };
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = limits.connections;
  }

  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : port;
  }

  /** Running commands get a moment to end. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const connection of this.#connections.keys()) connection.end();
    const timer = setTimeout(() => {
      for (const socket of this.#connections.values()) socket.destroy();
    }, limits.stopMs);
    await closed;
    clearTimeout(timer);
  }

  #accept(socket: Socket): void {
    socket.setNoDelay(true).setKeepAlive(true, limits.keepAliveMs);
    socket.on('error', () => {});
    const tls = this.#tls;
    if (!tls) this.#begin(socket, socket);
    else socket.once('data', (chunk: Buffer) => this.#choose(socket, chunk, tls));
  }

  #choose(
    socket: Socket,
    first: Buffer,
    { context, isRequired }: { context: SecureContext; isRequired: boolean },
  ): void {
    socket.pause().unshift(first);
    if (first[0] !== HANDSHAKE) {
      if (isRequired) socket.destroy();
      else this.#begin(socket, socket);
      return;
    }
    const secure = new TLSSocket(socket, { isServer: true, secureContext: context });
    const timer = setTimeout(() => socket.destroy(), limits.tlsHandshakeMs);
    secure.once('secure', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    this.#begin(secure, socket);
  }

  #begin(stream: Socket | TLSSocket, socket: Socket): void {
    const connection = new Connection(++this.#lastId, stream, this.#services);
    this.#connections.set(connection, socket);
    socket.once('close', () => this.#connections.delete(connection));
    stream.resume();
  }
}
