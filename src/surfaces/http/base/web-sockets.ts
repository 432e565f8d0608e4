/**
 * WebSockets of a route: their handshake, the share of each user, their audit, their upgrade, and their end with the key or
 * with the service. All that can be refused is refused before the upgrade.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { type Load, Shares, type SharesOptions } from '../../../fairness/shares.ts';
import { invalidArgument, type Problem, SandhavenError, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope, type Scope } from '../../../model/scopes.ts';
import { breakOff } from '../../streams.ts';
import { closeCodes } from './live-socket.ts';
import { subjectOf } from './origin.ts';
import { explain } from './problem.ts';
import type { Upgrades } from './upgrades.ts';

const PROTOCOL = 'websocket';
export const WEBSOCKET_VERSION = '13';

const { messageBytes, farewellMs } = limits.terminal;

export interface WebSocketsOptions {
  upgrades: Upgrades;
  services: Pick<Services, 'audit' | 'identity'>;
  log: Log;
  /** Bounds of open ones. */
  shares: SharesOptions;
  /** Advice at the end of the client's key. */
  afterKey: string;
  /** Chooses one of the offered subprotocols; the first without it. */
  chooseProtocol?: (offered: ReadonlySet<string>) => string;
}

/** A WebSocket from its upgrade on, as its route serves it. */
export interface ServedSocket {
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  /** Ends the connection with the reason. */
  fail(problem: Problem): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

export interface Asked {
  /** Actions of the audit log: at the begin, and at the end. */
  opened: string;
  closed: string;
  scope: Scope;
}

/** Route options: it ends with its key too, but with a reason. */
export const webSocketRoute = { exposeHeadRoute: false, config: { brief: true, endless: true } };

export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #shares: Shares;
  readonly #server: WebSocketServer;
  readonly #open = new Set<ServedSocket>();
  readonly #visits = new Set<Promise<void>>();
  readonly #requestIds = new WeakMap<IncomingMessage, string>();

  constructor(options: WebSocketsOptions) {
    const { shares, chooseProtocol } = options;
    this.#options = options;
    this.#shares = new Shares(shares);
    this.#server = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      ...{ maxPayload: messageBytes, closeTimeout: farewellMs },
      // Each piece of a message costs memory of its own.
      ...{ maxFragments: 64, maxBufferedChunks: 4_096 },
      ...(chooseProtocol ? { handleProtocols: chooseProtocol } : {}),
    });
    this.#server.on('headers', (headers, request) =>
      headers.push(`x-request-id: ${this.#requestIds.get(request)}`),
    );
    options.upgrades.beforeStop(() => this.#endAll());
  }

  get load(): Load {
    return this.#shares;
  }

  isAskedFor({ raw }: FastifyRequest): boolean {
    return this.#options.upgrades.earlyBytesOf(raw, PROTOCOL) !== null;
  }

  /** Throws `resource_exhausted`. Returns the function that releases the place. */
  take(owner: string): () => void {
    return this.#shares.take(owner);
  }

  /**
   * Resolves at the end of `work`, which opens the visit when nothing is left to be refused. What it rejects with before that
   * is thrown; later the client gets it.
   */
  async serve(
    request: FastifyRequest,
    reply: FastifyReply,
    { opened, closed, scope }: Asked,
    work: (visit: Visit, begun: () => void) => Promise<void>,
  ): Promise<FastifyReply> {
    assertHandshake(request.raw);
    const { services, log, afterKey } = this.#options;
    const visit = new Visit(request, reply, {
      log,
      afterKey,
      upgrade: (serve) => this.#upgrade(visit, serve),
    });
    reply.raw.once(
      'close',
      services.identity.whileValid(request.caller, () => visit.keyEnded()),
    );
    const subject = subjectOf(request, opened, visit.gone);
    const visited = services.audit.visit(subject, closed, async (begun) => {
      assertScope(request.caller, scope);
      reply.raw.once('close', this.take(request.caller.id));
      await work(visit, begun);
    });
    await this.#during(visited.catch((error: unknown) => visit.fail(error)));
    return reply;
  }

  #during(visit: Promise<void>): Promise<void> {
    const over = visit.finally(() => this.#visits.delete(over));
    this.#visits.add(over);
    return over;
  }

  #upgrade({ request }: Visit, serve: (socket: WebSocket) => ServedSocket): void {
    const { raw, id } = request;
    this.#requestIds.set(raw, id);
    const early = this.#options.upgrades.earlyBytesOf(raw, PROTOCOL) ?? Buffer.alloc(0);
    this.#server.handleUpgrade(raw, raw.socket, early, (connection) => {
      const socket = serve(connection);
      this.#open.add(socket);
      void socket.closed.then(() => this.#open.delete(socket));
    });
  }

  /** Resolves once every visit has its audit row and every client the reason, or the grace period is over. */
  async #endAll(): Promise<void> {
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
}

interface VisitParts extends Pick<WebSocketsOptions, 'log' | 'afterKey'> {
  /** Calls back at once, or not at all where the client has left. */
  upgrade(serve: (socket: WebSocket) => ServedSocket): void;
}

/** One request, from its admission to the end of its connection. */
export class Visit {
  readonly request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #parts: VisitParts;
  #served: ServedSocket | null = null;
  readonly #gone = new AbortController();
  readonly #left = () => this.#gone.abort();

  constructor(request: FastifyRequest, reply: FastifyReply, parts: VisitParts) {
    this.request = request;
    this.#reply = reply;
    this.#parts = parts;
    reply.raw.once('close', this.#left);
  }

  /** Aborted when the client leaves before the upgrade; later the WebSocket's own end counts. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isOpen(): boolean {
    return this.#served !== null;
  }

  /** Upgrades the connection. Returns null when the client has left at this moment. */
  open<S extends ServedSocket>(serve: (socket: WebSocket) => S): S | null {
    const opened: S[] = [];
    this.#parts.upgrade((connection) => {
      const socket = serve(connection);
      opened.push(socket);
      return socket;
    });
    const [socket] = opened;
    if (!socket) return null;
    this.#served = socket;
    this.#reply.raw.off('close', this.#left);
    this.#reply.hijack();
    this.#reply.raw.statusCode = 101;
    this.request.leave?.();
    return socket;
  }

  keyEnded(): void {
    const error = new SandhavenError('unauthenticated', 'The API key is not valid any more.', {
      hint: this.#parts.afterKey,
    });
    if (this.#served) this.#served.fail(toProblem(error, this.request.id));
    else breakOff(this.request.raw.socket);
  }

  /** Rethrows before the upgrade; later the client gets the error. */
  fail(error: unknown): void {
    if (!this.#served) throw error;
    this.#served.fail(explain(error, this.request, this.#parts.log));
  }
}

/** Refuses what `ws` would refuse in words of its own. */
function assertHandshake({ headers }: IncomingMessage): void {
  const hint = 'Use a WebSocket client of RFC 6455.';
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')) {
    throw invalidArgument('Sec-WebSocket-Key', 'The handshake has no valid Sec-WebSocket-Key.', hint);
  }
  if (headers['sec-websocket-version'] !== WEBSOCKET_VERSION) {
    const detail = `The version of a WebSocket must be ${WEBSOCKET_VERSION}.`;
    throw invalidArgument('Sec-WebSocket-Version', detail, hint);
  }
}
