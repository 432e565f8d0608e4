/**
 * Port forwarding: `-L` and `-D` ask for a connection each, `-R` for a listener inside. Every connection is made by
 * the agent, so the sandbox's own network rules hold for all of them.
 */
import type { Duplex } from 'node:stream';
import type { Connection, ServerChannel, TcpipBindInfo, TcpipRequestInfo } from 'ssh2';
import type { AgentTunnels, Listener } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { ChannelWriter, feed, pour } from './channel-writer.ts';
import { boundInput, refusals, refuseChannel, sendEof, whenClosed } from './ssh2-workarounds.ts';

const EVERYWHERE = ['', '*', '0.0.0.0', '::'];
const OWN = ['localhost', '127.0.0.1', '::1', 'ip6-localhost'];

export interface ForwardDependencies {
  connection: Connection;
  /** Transport of the connection. */
  stream: Duplex;
  agent: AgentTunnels;
  /** Names the sandbox to the agent link. */
  key: string;
  gone: Promise<void>;
  /** Returns null above the limit of channels; otherwise a function to call when the channel is closed. */
  takeChannel(): (() => void) | null;
}

export class Forwards {
  readonly #parts: ForwardDependencies;
  readonly #over = new AbortController();
  /** Keyed by address and port; null during set-up. */
  readonly #listeners = new Map<string, Listener | null>();
  /** Number of requests for any free port: each is held under a unique name until it has a port. */
  #anyPort = 0;

  constructor(parts: ForwardDependencies) {
    this.#parts = parts;
    void parts.gone.then(() => {
      this.#over.abort(new Error('The client is gone.'));
      for (const listener of this.#listeners.values()) listener?.close();
    });
  }

  async connect(accept: () => ServerChannel, reject: () => void, to: TcpipRequestInfo): Promise<void> {
    const { agent, connection, key } = this.#parts;
    const release = this.#parts.takeChannel();
    if (!release) {
      refuseChannel(connection, reject, refusals.resourceShortage, 'too many channels are open');
      return;
    }
    try {
      const port = portOf(to.destPort);
      const host = OWN.includes(to.destIP) ? undefined : hostOf(to.destIP);
      const inside = await agent.connectPort(key, port, this.#over.signal, host);
      inside.on('error', () => {});
      const channel = accept();
      await tunnel(channel, inside, this.#parts);
    } catch (error) {
      refuseChannel(connection, reject, reasonFor(error), wordsOf(error));
    } finally {
      release();
    }
  }

  /** @returns the bound port; null for a refusal. */
  async listen({ bindAddr, bindPort }: TcpipBindInfo): Promise<number | null> {
    const everywhere = EVERYWHERE.includes(bindAddr);
    if (!everywhere && !OWN.includes(bindAddr)) return null;
    if (this.#listeners.size >= limits.ssh.listenersPerConnection || bindPort > 65_535) return null;
    const reserved = `${bindAddr} ${bindPort === 0 ? `any ${++this.#anyPort}` : bindPort}`;
    if (this.#listeners.has(reserved)) return null;
    this.#listeners.set(reserved, null);
    try {
      const { agent, key } = this.#parts;
      const listener: Listener = await agent.listenPort(
        key,
        { port: bindPort, everywhere },
        (inside) => this.#bring(inside, bindAddr, listener.port),
        this.#over.signal,
      );
      const name = `${bindAddr} ${listener.port}`;
      this.#listeners.set(name, listener);
      void listener.ended.then(() => this.#listeners.delete(name));
      if (this.#over.signal.aborted) listener.close();
      return listener.port;
    } catch {
      return null;
    } finally {
      if (this.#listeners.get(reserved) === null) this.#listeners.delete(reserved);
    }
  }

  unlisten({ bindAddr, bindPort }: TcpipBindInfo): boolean {
    const name = `${bindAddr} ${bindPort}`;
    const listener = this.#listeners.get(name);
    if (!listener) return false;
    this.#listeners.delete(name);
    listener.close();
    return true;
  }

  /** Forwards a connection made inside to the client. */
  #bring(inside: Duplex, bindAddr: string, port: number): void {
    const { connection } = this.#parts;
    const release = this.#parts.takeChannel();
    inside.on('error', () => {});
    if (!release || this.#over.signal.aborted) {
      release?.();
      inside.destroy();
      return;
    }
    connection.forwardOut(bindAddr, port, '127.0.0.1', 0, (error, channel) => {
      const served = error ? Promise.resolve() : tunnel(channel, inside, this.#parts);
      void served.finally(() => {
        if (error) inside.destroy();
        release();
      });
    });
  }
}

/** A name or an address; the sandbox resolves it and decides about reaching it. */
function hostOf(host: string): string {
  if (host !== '' && host.length <= limits.ssh.hostChars) return host;
  throw new SandhavenError('invalid_argument', 'there is no such host');
}

function portOf(port: number): number {
  if (port >= 1 && port <= 65_535) return port;
  throw new SandhavenError('invalid_argument', 'there is no such port');
}

function reasonFor(error: unknown): (typeof refusals)[keyof typeof refusals] {
  const code = error instanceof SandhavenError ? error.code : 'unavailable';
  return code === 'resource_exhausted' ? refusals.resourceShortage : refusals.connectFailed;
}

function wordsOf(error: unknown): string {
  return error instanceof SandhavenError ? error.message : 'the sandbox cannot be reached';
}

/**
 * Joins one forwarded connection: a client's channel and a connection inside, each direction ended by itself.
 * Resolves when the channel is closed.
 */
async function tunnel(
  channel: ServerChannel,
  inside: Duplex,
  client: { connection: Connection; stream: Duplex; gone: Promise<void> },
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    whenClosed(channel, resolve);
    void client.gone.then(resolve);
  });
  const writer = new ChannelWriter(channel, client.stream, closed);
  boundInput(channel, client.connection);
  channel.on('error', () => {});
  const uploaded = new Promise<void>((resolve) => {
    channel.once('end', resolve);
    inside.once('close', resolve);
  });
  feed(channel, inside);
  const downloaded = pour(inside, (chunk) => writer.out(chunk)).then(
    () => sendEof(channel),
    // A broken connection is no clean end: the client sees the channel close at once.
    () => channel.close(),
  );
  void Promise.all([uploaded, downloaded]).then(() => channel.close());
  await closed;
  // Bytes that the client sent earlier are still delivered.
  if (inside.writableFinished) inside.destroy();
  else {
    const timer = setTimeout(() => inside.destroy(), limits.ssh.lastBytesMs);
    inside.once('finish', () => inside.destroy());
    inside.once('close', () => clearTimeout(timer));
  }
}
