/**
 * Listens on this host, and carries each connection to a port inside a sandbox through a tunnel of its own. An
 * unreachable service costs the connections of that time and nothing else: the next one tries anew.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Problem, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { breakOff, joinStreams } from '../streams.ts';
import type { Connection } from './connection.ts';
import { openTunnel } from './tunnel-client.ts';

export interface ForwarderOptions {
  connection: Connection;
  sandbox: string;
  /** Port inside the sandbox. */
  port: number;
  /** Address on this host; port 0 takes a free one. */
  listen: { host: string; port: number };
  /** Receives the error of a connection that could not be carried; it has been reset. */
  onProblem(problem: Problem): void;
}

export interface Forwarder {
  /** Bound address. */
  host: string;
  port: number;
  /** Breaks the open connections. */
  close(): Promise<void>;
}

/** Rejects with `failed_precondition` when the address is unavailable. */
export async function openForwarder(options: ForwarderOptions): Promise<Forwarder> {
  const closing = new AbortController();
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    void carry(client, options, closing.signal);
  });
  server.maxConnections = limits.concurrentConnections;
  const { address, port } = await listen(server, options.listen);
  return {
    host: address,
    port,
    async close() {
      closing.abort();
      for (const client of open) breakOff(client);
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Returns true when another program listens on the address. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
}

async function carry(client: Socket, options: ForwarderOptions, closing: AbortSignal): Promise<void> {
  const { connection: service, sandbox, port, onProblem } = options;
  const gone = new AbortController();
  const left = () => gone.abort();
  client.on('error', () => {});
  client.once('close', left);
  try {
    const signal = AbortSignal.any([gone.signal, closing]);
    const { connection, early, problem } = await openTunnel(service, { sandbox, port }, signal);
    if (problem) {
      breakOff(client);
      onProblem(problem);
      return;
    }
    connection.setNoDelay(true);
    connection.setKeepAlive(true, limits.tunnel.keepaliveMs);
    if (early.length > 0) connection.unshift(early);
    await joinStreams(client, connection);
  } catch (error) {
    breakOff(client);
    // A client that left, or that this forwarder closed, gets no report.
    if (!gone.signal.aborted && !closing.aborted) throw error;
  } finally {
    client.off('close', left);
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const problem =
        error.code === 'EADDRINUSE' ? 'is already in use by another program' : 'cannot be bound';
      const detail = `${host}:${port} ${problem}.`;
      const hint = 'Give another local port, or 0 for a free one.';
      reject(new SandhavenError('failed_precondition', detail, { hint }, error));
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      server.on('error', () => {});
      resolve(server.address() as AddressInfo);
    });
  });
}
