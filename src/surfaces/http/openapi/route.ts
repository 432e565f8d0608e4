/** GET /openapi.json, made when it is first asked for: it is more than half a megabyte, and few services are asked. */
import type { FastifyInstance } from 'fastify';
import { openApi } from './openapi.ts';

/** @param parts `publicUrl` is that of the service, if any. */
export function addOpenApiRoute(
  app: FastifyInstance,
  { version, publicUrl = null }: { version: string; publicUrl?: string | null },
): void {
  let description: string | undefined;
  app.get('/openapi.json', (_request, reply) => {
    description ??= JSON.stringify(openApi(version, publicUrl ?? '/'));
    return reply.type('application/json; charset=utf-8').send(description);
  });
}
