/** /mcp: takes keys, and tokens of applications that people have authorized. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Log } from '../../../control/ports/index.ts';
import { isDefect } from '../../../model/errors.ts';
import type { McpClient, McpEndpoint } from '../../mcp/endpoint.ts';
import { originOf } from '../base/origin.ts';
import { challenge } from '../oauth/metadata.ts';

/** @param parts With an endpoint that receives the request with its body unread; none without it. */
export function addMcpRoute(
  app: FastifyInstance,
  { mcp, log }: { mcp?: Pick<McpEndpoint, 'handle'>; log: Log },
): void {
  if (!mcp) return;
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    config: { countsItself: true, keysOnly: true, appTokens: true },
    handler: async (request, reply) => {
      reply.hijack();
      try {
        const client = { caller: request.caller, address: originOf(request).address };
        await mcp.handle(request.raw, reply.raw, { ...client, challenge: scopeChallenge(request) });
      } catch (error) {
        if (isDefect(error, request.abandoned))
          log.error('mcp request failed', { request_id: request.id, error });
        reply.raw.destroy();
      }
      return reply;
    },
  });
}

function scopeChallenge({ publicOrigin }: FastifyRequest): NonNullable<McpClient['challenge']> | null {
  if (publicOrigin === null) return null;
  return (needed) => challenge(publicOrigin, { error: 'insufficient_scope', needed });
}
