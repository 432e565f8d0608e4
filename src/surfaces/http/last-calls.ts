/**
 * The stop of the API. Calls in progress may take long, and the process that comes next waits for them. So others are
 * served meanwhile; only then the listener closes, and what has begun since gets a moment.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { InProgress } from '../../concurrency/closing.ts';
import { limits } from '../../model/limits.ts';

export class LastCalls {
  readonly #calls = new InProgress<ServerResponse>();
  #stopping = false;
  #graceMs: number = limits.closeGraceMs;
  /** Calls that have had their grace period. */
  #late: ServerResponse[] = [];

  watch(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      // A client that comes back on a new connection loses no request when this one closes.
      if (this.#stopping) reply.raw.setHeader('connection', 'close');
      if (request.routeOptions.config?.endless) return;
      reply.raw.once('close', this.#calls.begin(reply.raw));
    });
    // Calls beyond the grace period are cut, as if their clients had left.
    app.addHook('preClose', async () => {
      for (const call of this.#late) call.destroy();
      // Repeatedly: clients may connect until the listener closes, which is after all of these hooks.
      const cut = setInterval(() => app.server.closeAllConnections(), this.#graceMs).unref();
      app.server.once('close', () => clearInterval(cut));
    });
  }

  /** Resolves once calls that are in progress now have ended, within limits.closeGraceMs. Others are served. */
  async drain(): Promise<void> {
    this.#stopping = true;
    this.#late = await this.#calls.endOfThese(limits.closeGraceMs);
    this.#graceMs = limits.lastCallsMs;
  }
}
