/**
 * Requests for another protocol on their connection: they pass the checks of every route first, and a refusal is an
 * answer like any other.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { breakOff } from '../../streams.ts';

/** Paths that WebSockets are opened on. */
const webSockets = [
  /^\/v1\/sandboxes\/[^/?]+\/terminal(?:\?|$)/,
  /^\/daytona\/toolbox\/[^/?]+\/process\/pty\/(?:create-connect|[^/?]+\/connect)(?:\?|$)/,
  /^\/daytona\/toolbox\/[^/?]+\/process\/interpreter\/execute(?:\?|$)/,
  /^\/daytona\/toolbox\/[^/?]+\/process\/session\/(?:[^/?]+\/command\/[^/?]+|entrypoint)\/logs\?/,
];

type Protocol = 'tcp' | 'websocket';

/** For the server's `shouldUpgradeCallback`: any other upgrade is served as the plain request that it also is. */
export function asksForUpgrade(request: IncomingMessage): boolean {
  const { method, headers, url = '' } = request;
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  if (method !== 'GET' || hasBody) return false;
  const protocol = protocolOf(request);
  return protocol === 'tcp' || (protocol === 'websocket' && webSockets.some((path) => path.test(url)));
}

export class Upgrades {
  /** First bytes of each client after its request. */
  readonly #early = new WeakMap<IncomingMessage, Buffer>();
  readonly #open = new Set<Socket>();
  readonly #endings: (() => Promise<void>)[] = [];
  #stopping = false;

  constructor(app: FastifyInstance) {
    app.server.on('upgrade', (request: IncomingMessage, socket: Socket, early: Buffer) => {
      socket.on('error', () => socket.destroy());
      if (this.#stopping) return void socket.destroy();
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      // A refusal is the connection's last response.
      response.once('finish', () => socket.destroySoon());
      this.#early.set(request, early);
      app.routing(request, response);
    });
  }

  /** Calls `end` at the stop, for connections that end with a reason. */
  beforeStop(end: () => Promise<void>): void {
    this.#endings.push(end);
  }

  /**
   * Breaks the connections that the routes have left open, and each one from now on: the server no longer tracks them,
   * yet would wait for them for ever.
   */
  async stop(): Promise<void> {
    await Promise.all(this.#endings.map((end) => end()));
    this.#stopping = true;
    for (const socket of this.#open) breakOff(socket);
  }

  /** Returns null for a request that asks for no upgrade, or for one to another protocol. */
  earlyBytesOf(request: IncomingMessage, protocol: Protocol): Buffer | null {
    return protocolOf(request) === protocol ? (this.#early.get(request) ?? null) : null;
  }
}

function protocolOf({ headers }: IncomingMessage): string | undefined {
  return headers.upgrade?.toLowerCase();
}
