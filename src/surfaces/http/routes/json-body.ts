/** Reads JSON bodies on routes that declare a JSON Content-Type. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { JsonBodies } from '../../json/bodies.ts';

/** An empty body means no parameters. */
export function acceptJsonBodies(app: FastifyInstance, bodies: JsonBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const body = await bodies.read(request.raw, request.answer, request.caller.id);
    return body === undefined ? {} : body;
  });
}
