/** JSON bodies of routes whose Content-Type says so. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { JsonBodies } from '../../json/bodies.ts';

/** An empty body is no parameters. */
export function acceptJsonBodies(app: FastifyInstance, bodies: JsonBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const body = await bodies.read(request.raw, request.answer, request.caller.id);
    return body === undefined ? {} : body;
  });
}
