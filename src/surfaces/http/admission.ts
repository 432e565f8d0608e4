/**
 * Bounds the requests in progress, of each user and of all. A user above the share is refused after a pause, so that
 * repeated attempts cost the others little.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Load, Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import type { Connections } from './base/connections.ts';

export class Admission {
  readonly #requests = new Shares({
    ...limits.shares.requests,
    what: 'requests are already in progress',
  });
  readonly #connections: Pick<Connections, 'belongsTo'>;
  /** Refusals in their pause, by user. */
  readonly #refused = new Map<string, number>();
  /** Connections to cut after their pause. */
  readonly #parked = new WeakSet<Socket>();

  constructor(connections: Pick<Connections, 'belongsTo'>) {
    this.#connections = connections;
  }

  /** Requests in progress. */
  get load(): Load {
    return this.#requests;
  }

  /** Rejects with `resource_exhausted`. An admitted request is released when the response has ended, or by `leave`. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { id } = request.caller;
    try {
      this.#connections.belongsTo(request.raw.socket, isProxied(request) ? null : id);
      const release = this.#requests.take(id);
      request.leave = () => {
        request.leave = null;
        release();
      };
      reply.raw.once('close', () => request.leave?.());
    } catch (error) {
      await this.#delay(request, id);
      throw error;
    }
  }

  async #delay(request: FastifyRequest, owner: string): Promise<void> {
    const waiting = this.#refused.get(owner) ?? 0;
    if (waiting >= limits.refusalsWaiting) return this.#cut(request.raw.socket);
    this.#refused.set(owner, waiting + 1);
    await sleep(pauseMs());
    const left = (this.#refused.get(owner) ?? 1) - 1;
    if (left > 0) this.#refused.set(owner, left);
    else this.#refused.delete(owner);
  }

  /** A pause first, or a client that reconnects would cost more than one that waits: one request a connection. */
  async #cut(socket: Socket): Promise<void> {
    if (!this.#parked.has(socket)) {
      this.#parked.add(socket);
      socket.pause();
      await sleep(pauseMs());
    }
    socket.destroy();
  }
}

/**
 * Returns one to two times the delay: requests that were refused at once would otherwise be answered, and come back, in one
 * turn of the loop.
 */
function pauseMs(): number {
  return limits.refusalDelayMs * (1 + Math.random());
}

/** The address belongs to the request's sender, the connection to a proxy that the operator named. */
function isProxied({ arrival, raw }: FastifyRequest): boolean {
  return arrival.client !== raw.socket.remoteAddress?.replace(/^::ffff:/, '');
}
