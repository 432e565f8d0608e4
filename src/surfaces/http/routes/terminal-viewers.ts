/** Viewers of terminals: the share of each user, their upgrade to a WebSocket, and their end with the service. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Log, TerminalView } from '../../../control/ports/index.ts';
import { type Load, Shares } from '../../../fairness/shares.ts';
import { SandhavenError, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { breakOff } from '../../streams.ts';
import { explain } from '../base/problem.ts';
import { closeCodes, TerminalSocket } from './terminal-socket.ts';

const { messageBytes, farewellMs, viewers } = limits.terminal;

/** One request, from its admission to the end of its connection. */
export class TerminalViewer {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** First bytes after the request. */
  readonly early: Buffer;
  /** The connection, once it is a WebSocket. */
  socket: TerminalSocket | null = null;
  readonly #log: Log;
  readonly #gone = new AbortController();
  readonly #left = () => this.#gone.abort();

  constructor(request: FastifyRequest, reply: FastifyReply, early: Buffer, log: Log) {
    this.request = request;
    this.reply = reply;
    this.early = early;
    this.#log = log;
    reply.raw.once('close', this.#left);
  }

  /** Aborted when the client leaves before the upgrade; later the WebSocket's own end counts. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  upgraded(socket: TerminalSocket): void {
    this.socket = socket;
    this.reply.raw.off('close', this.#left);
    this.reply.hijack();
    this.reply.raw.statusCode = 101;
    this.request.leave?.();
  }

  keyEnded(): void {
    const error = new SandhavenError('unauthenticated', 'The API key is not valid any more.', {
      hint: 'Attach again with another key; the terminal goes on.',
    });
    if (this.socket) this.socket.fail(toProblem(error, this.request.id));
    else breakOff(this.request.raw.socket);
  }

  /** Rethrows before the upgrade; later the client gets the error as a message. */
  fail(error: unknown): void {
    if (!this.socket) throw error;
    this.socket.fail(explain(error, this.request, this.#log));
  }
}

export class TerminalViewers {
  readonly #shares = new Shares({ ...viewers, what: 'viewers of terminals are already connected' });
  readonly #open = new Set<TerminalSocket>();
  readonly #visits = new Set<Promise<void>>();
  readonly #requestIds = new WeakMap<IncomingMessage, string>();
  readonly #server = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
    ...{ maxPayload: messageBytes, closeTimeout: farewellMs },
    // Each piece of a message costs memory of its own.
    ...{ maxFragments: 64, maxBufferedChunks: 4_096 },
  });

  constructor() {
    this.#server.on('headers', (headers, request) =>
      headers.push(`x-request-id: ${this.#requestIds.get(request)}`),
    );
  }

  get load(): Load {
    return this.#shares;
  }

  /** Throws `resource_exhausted`. Returns the function that releases the place. */
  take(owner: string): () => void {
    return this.#shares.take(owner);
  }

  /**
   * Resolves when the terminal has ended, or the viewer has left.
   * @param windowBytes Null without flow control by the client.
   */
  async carry(
    viewer: TerminalViewer,
    view: TerminalView,
    terminal: string,
    windowBytes: number | null,
  ): Promise<void> {
    const connection = this.#upgrade(viewer);
    // The client has left at this moment.
    if (!connection) return;
    const socket = new TerminalSocket(connection, view, viewer.request.id, windowBytes);
    viewer.upgraded(socket);
    this.#open.add(socket);
    void socket.closed.then(() => this.#open.delete(socket));
    await socket.carry(terminal);
  }

  during(visit: Promise<void>): Promise<void> {
    const over = visit.finally(() => this.#visits.delete(over));
    this.#visits.add(over);
    return over;
  }

  /** Resolves once every visit has its audit row and every client the reason, or the grace period is over. */
  async endAll(): Promise<void> {
    const closed = [...this.#open].map((socket) => {
      socket.close(closeCodes.goingAway, 'The service is stopping.');
      return socket.closed;
    });
    const grace = new AbortController();
    const late = sleep(limits.closeGraceMs, undefined, { signal: grace.signal }).catch(() => {});
    await Promise.race([Promise.allSettled([...this.#visits, ...closed]), late]);
    grace.abort();
    for (const socket of this.#open) socket.terminate();
  }

  #upgrade({ request, early }: TerminalViewer): WebSocket | null {
    let upgraded: WebSocket | null = null;
    this.#requestIds.set(request.raw, request.id);
    this.#server.handleUpgrade(request.raw, request.raw.socket, early, (socket) => {
      upgraded = socket;
    });
    return upgraded;
  }
}
