/** Serves SSH in the gateway's thread: connections come in as byte streams, and are served until they end. */
import type { Duplex } from 'node:stream';
import ssh2, { type Connection, type Server as SshServer } from 'ssh2';
import type { AgentProcesses, AgentTunnels } from '../../../control/ports/index.ts';
import { isDefect } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { PortStream } from '../port-stream.ts';
import { type ServedConnection, serveConnection } from './connection.ts';
import { login, WrongTokens } from './login.ts';
import type { MainThread } from './main-thread.ts';
import { streamOf } from './ssh2-workarounds.ts';

/**
 * Subset of ssh2's algorithms: no key exchange that costs an unauthenticated client less than it costs the
 * service, and no compression, which could be a bomb.
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
} as const;

export interface ServerDependencies {
  main: MainThread;
  hostKey: string;
  agent: AgentProcesses & AgentTunnels;
}

/** Connection before its login. */
interface Caller {
  id: number;
  address: string;
}

export class GatewayServer {
  readonly #parts: ServerDependencies;
  readonly #ssh: SshServer;
  readonly #wrongTokens = new WrongTokens();
  readonly #callers = new WeakMap<Duplex, Caller>();
  readonly #streams = new Set<Duplex>();
  readonly #served = new Set<ServedConnection>();

  constructor(parts: ServerDependencies) {
    this.#parts = parts;
    const { main, hostKey } = parts;
    this.#ssh = new ssh2.Server({
      hostKeys: [hostKey],
      ident: 'sandhaven',
      keepaliveInterval: limits.ssh.keepaliveMs,
      keepaliveCountMax: limits.ssh.keepalives,
      algorithms: ALGORITHMS,
    } as unknown as ConstructorParameters<typeof ssh2.Server>[0]);
    // ssh2 emits `connection` after the client's version line.
    this.#ssh.on('connection', (connection) => {
      this.#serve(connection).catch((error: unknown) => {
        const stream = streamOf(connection);
        if (isDefect(error, stream.destroyed)) main.log.error('an SSH connection failed', { error });
        stream.destroy();
      });
    });
    main.on({
      connection: (port, caller) =>
        this.#take(new PortStream(port, { allowHalfOpen: false, keepsChunks: true }), caller),
      close: () => void this.#close(),
    });
  }

  #take(stream: Duplex, caller: Caller): void {
    stream.on('error', () => {});
    stream.once('close', () => this.#streams.delete(stream));
    this.#streams.add(stream);
    this.#callers.set(stream, caller);
    this.#ssh.injectSocket(stream as Parameters<SshServer['injectSocket']>[0]);
  }

  async #serve(connection: Connection): Promise<void> {
    const { main, agent } = this.#parts;
    const stream = streamOf(connection);
    const { id, address } = this.#callers.get(stream) ?? { id: 0, address: 'gone' };
    // A protocol error is the client's own fault and gets no reply.
    connection.on('error', () => setTimeout(() => stream.destroy(), limits.ssh.farewellMs).unref());
    const guest = await login(connection, {
      address,
      enter: (username, password) => main.enter({ connection: id, username, password }),
      leave: (key) => main.leave(key),
      wrongTokens: this.#wrongTokens,
      log: main.log,
    });
    if (!guest) return;
    const about = { token: guest.tokenId, sandbox: guest.sandboxId };
    main.log.info('an SSH connection began', about);
    const served = serveConnection({ connection, stream, guest, agent });
    this.#served.add(served);
    main.whenExpelled(guest.key, (reason) => {
      main.log.info('ending an SSH connection', { ...about, reason });
      served.end(reason);
    });
    await served.over;
    this.#served.delete(served);
    main.log.info('an SSH connection ended', about);
    main.leave(guest.key);
  }

  /** Programs get their grace period, as after a client's departure. */
  async #close(): Promise<void> {
    const served = [...this.#served];
    for (const stream of this.#streams) {
      if (served.length === 0) stream.destroy();
      else setTimeout(() => stream.destroy(), limits.ssh.farewellMs);
    }
    for (const each of served) each.end('The service is stopping.');
    await Promise.all(served.map(({ over }) => over));
    this.#parts.main.report({ type: 'closed' });
  }
}
