/** Returns a signal that aborts when the client goes away before it has its answer. */
import type { FastifyReply } from 'fastify';

export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
