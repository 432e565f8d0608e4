/**
 * Main-thread side of the SSH gateway: it holds the address and the connections, and passes their bytes to a
 * thread of its own, which speaks all of SSH. The thread costs memory, so it runs only while a client is
 * connected; when it fails its connections end, and the next one starts another.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { SshVisits } from '../../control/access/ssh-visits.ts';
import type { Log } from '../../control/ports/index.ts';
import { Crowd } from '../../fairness/crowd.ts';
import { limits } from '../../model/limits.ts';
import { networkOf } from '../../model/network/arrival.ts';
import { GatewayThread } from './worker-thread.ts';

export interface GatewayOptions {
  /** With the file of a socket that listens there already, if any. */
  listen: { host: string; port: number; fd?: number };
  /** Private key in OpenSSH's format. */
  hostKey: string;
  /** Entry module of the thread. */
  thread: URL;
  visits: Pick<SshVisits, 'enter'>;
  log: Log;
}

export interface SshGateway {
  /** The port is the real one, also after a request for any port. */
  address: { host: string; port: number };
  server: Server;
  /** Ends all connections and their programs. */
  close(): Promise<void>;
}

/** Resolves once the socket listens; rejects with Node's own error when it cannot. */
export async function openSshGateway(options: GatewayOptions): Promise<SshGateway> {
  const connections = new Connections(options);
  const server = createServer({ pauseOnConnect: true, noDelay: true, keepAlive: true }, (socket) =>
    connections.take(socket),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...options.listen, backlog: limits.listenBacklog }, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', (error) => options.log.error('the SSH gateway cannot accept', { error }));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    address: { host: options.listen.host, port },
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await connections.close();
      await closed;
    },
  };
}

/** Owns the connections, and the thread while there are any. */
class Connections {
  readonly #options: GatewayOptions;
  readonly #admission = new Admission();
  readonly #sockets = new Set<Socket>();
  #thread: GatewayThread | null = null;
  #idle: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  take(socket: Socket): void {
    socket.on('error', () => {});
    const loggedIn = this.#closing ? null : this.#admission.admit(socket);
    if (!loggedIn) {
      socket.destroy();
      return;
    }
    clearTimeout(this.#idle);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#restSoon();
    });
    this.#thread ??= this.#startThread();
    this.#thread.connect(socket, loggedIn);
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#idle);
    await this.#thread?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #startThread(): GatewayThread {
    const { thread: file, hostKey, visits, log } = this.#options;
    const thread = new GatewayThread({ file, hostKey, visits, log });
    void thread.ended.then(() => {
      if (this.#thread === thread) this.#thread = null;
    });
    return thread;
  }

  #restSoon(): void {
    clearTimeout(this.#idle);
    if (this.#sockets.size > 0 || this.#closing) return;
    this.#idle = setTimeout(() => {
      const thread = this.#thread;
      this.#thread = null;
      void thread?.close();
    }, limits.ssh.threadIdleMs);
    this.#idle.unref();
  }
}

/** Admits connections: bounds their number, the number of unauthenticated ones, and the time until login. */
export class Admission {
  #inside = 0;
  /**
   * Unauthenticated clients by the network of their address. A full crowd replaces: clients of other networks
   * first, and a random one of a network's own, since many may share an address.
   */
  readonly #strangers = new Crowd({
    total: limits.ssh.strangers,
    perGroup: limits.ssh.strangersPerNetwork,
    replaces: true,
  });

  /** Returns null above the limit; otherwise a function to call on login. Until then the login timeout runs. */
  admit(socket: Socket): (() => void) | null {
    if (this.#inside >= limits.ssh.connections) return null;
    const leave = this.#strangers.enter(networkOf(socket.remoteAddress ?? ''), () => socket.destroy());
    if (!leave) return null;
    this.#inside++;
    const timer = setTimeout(() => socket.destroy(), limits.ssh.loginMs);
    const known = () => {
      clearTimeout(timer);
      leave();
    };
    socket.once('close', () => {
      known();
      this.#inside--;
    });
    return known;
  }
}
