/**
 * The gateway's thread: it listens, and gives each connection to ssh2, which is loaded with the first one. How
 * many strangers are let wait at the door is bounded, and how long.
 */
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { Connection, Server as SshServer } from 'ssh2';
import type { AgentProcesses, AgentTunnels } from '../../control/ports.ts';
import { limits } from '../../model/limits.ts';
import { type Farewell, serveConnection } from './connection.ts';
import { login } from './login.ts';
import type { MainThread } from './main-thread.ts';
import type { GatewaySettings } from './messages.ts';
import { WrongTokens } from './wrong-tokens.ts';

/**
 * Of what ssh2 has: no key exchange that costs a stranger less than it costs the service, and no compression,
 * which could be a bomb.
 */
const ALGORITHMS = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
};

/** Of the address of a client that has gone already. */
const UNKNOWN = 'unknown';

export interface ServerParts {
  main: MainThread;
  settings: GatewaySettings;
  /** Called with the first connection. */
  loadAgent(): Promise<AgentProcesses & AgentTunnels>;
}

export class GatewayServer {
  readonly #parts: ServerParts;
  readonly #server: NetServer;
  readonly #wrongTokens = new WrongTokens();
  readonly #sockets = new Set<Socket>();
  /** By address: connections that have not logged in. */
  readonly #strangers = new Map<string, number>();
  readonly #farewells = new Set<Farewell>();
  readonly #loggedIn = new WeakMap<Socket, () => void>();
  #ssh: Promise<SshServer> | undefined;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    const options = { pauseOnConnect: true, noDelay: true, keepAlive: true };
    this.#server = createServer(options, (socket) => this.#meet(socket));
  }

  listen(): void {
    const { main, settings } = this.#parts;
    this.#server.once('error', (error: NodeJS.ErrnoException) =>
      main.report({ type: 'not listening', code: error.code ?? 'unknown' }),
    );
    this.#server.listen({ host: settings.host, port: settings.port }, () => {
      const address = this.#server.address();
      main.report({ type: 'listening', port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const farewell of this.#farewells) farewell('The service is stopping.');
    for (const socket of this.#sockets) {
      if (!this.#farewells.size) socket.destroy();
      setTimeout(() => socket.destroy(), limits.ssh.farewellMs).unref();
    }
    await closed;
    this.#parts.main.report({ type: 'closed' });
  }

  #meet(socket: Socket): void {
    const address = socket.remoteAddress ?? UNKNOWN;
    const { connections, strangers, strangersPerAddress, loginMs } = limits.ssh;
    const fromThere = this.#strangers.get(address) ?? 0;
    const atTheDoor = [...this.#strangers.values()].reduce((sum, count) => sum + count, 0);
    socket.on('error', () => {});
    if (this.#sockets.size >= connections || atTheDoor >= strangers || fromThere >= strangersPerAddress) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#strangers.set(address, fromThere + 1);
    const timer = setTimeout(() => socket.destroy(), loginMs);
    let known = false;
    const loggedIn = () => {
      if (known) return;
      known = true;
      clearTimeout(timer);
      const left = (this.#strangers.get(address) ?? 1) - 1;
      if (left > 0) this.#strangers.set(address, left);
      else this.#strangers.delete(address);
    };
    socket.once('close', () => {
      loggedIn();
      this.#sockets.delete(socket);
    });
    this.#loggedIn.set(socket, loggedIn);
    this.#ssh ??= this.#load();
    this.#ssh.then(
      (ssh) => ssh.injectSocket(socket),
      (error: unknown) => {
        this.#parts.main.log.error('SSH cannot be served', { error });
        socket.destroy();
      },
    );
  }

  /** ssh2 tells of a connection when the client has said its version. */
  async #serve(connection: Connection, agent: AgentProcesses & AgentTunnels): Promise<void> {
    const { main } = this.#parts;
    const socket = socketOf(connection);
    // Whatever broke, there is nothing more to say: what a client does wrong is its own affair.
    connection.on('error', () => setTimeout(() => socket.destroy(), limits.ssh.farewellMs).unref());
    const guest = await login(connection, {
      address: socket.remoteAddress ?? UNKNOWN,
      enter: (username, password) => main.enter(username, password),
      leave: (key) => main.leave(key),
      wrongTokens: this.#wrongTokens,
      log: main.log,
    });
    if (!guest) return;
    this.#loggedIn.get(socket)?.();
    main.log.info('an SSH connection began', { token: guest.tokenId, sandbox: guest.sandboxId });
    const farewell = serveConnection({ connection, socket, guest, agent, log: main.log });
    this.#farewells.add(farewell);
    main.whenExpelled(guest.key, farewell);
    socket.once('close', () => {
      this.#farewells.delete(farewell);
      main.log.info('an SSH connection ended', { token: guest.tokenId, sandbox: guest.sandboxId });
      // Programs are hung up on first; what is left of them then goes with the channels.
      setTimeout(() => main.leave(guest.key), limits.ssh.hangUpGraceMs + limits.ssh.farewellMs);
    });
  }

  async #load(): Promise<SshServer> {
    const [{ default: ssh2 }, agent] = await Promise.all([import('ssh2'), this.#parts.loadAgent()]);
    const server = new ssh2.Server({
      hostKeys: [this.#parts.settings.hostKey],
      ident: 'sandhaven',
      keepaliveInterval: limits.ssh.keepaliveMs,
      keepaliveCountMax: limits.ssh.keepalives,
      algorithms: ALGORITHMS,
    } as ConstructorParameters<typeof ssh2.Server>[0]);
    server.on('connection', (connection) => {
      this.#serve(connection, agent).catch((error: unknown) => {
        this.#parts.main.log.error('an SSH connection failed', { error });
        socketOf(connection).destroy();
      });
    });
    return server;
  }
}

function socketOf(connection: Connection): Socket {
  return (connection as unknown as { _sock: Socket })._sock;
}
