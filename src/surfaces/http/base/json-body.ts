/** JSON bodies of requests, with a Content-Type of JSON: of callers, and of people who are nobody yet. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { JsonBodies } from '../../json/bodies.ts';

/** An empty body means no parameters. */
export function acceptJsonBodies(app: FastifyInstance, bodies: JsonBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const body = await bodies.read(request.raw, request.answer, request.caller.id);
    return body === undefined ? {} : body;
  });
}

/**
 * Bodies of requests from people who are nobody yet: small JSON, since no share of large ones is known. Lets the
 * routes of `app` take such bodies alone, as text.
 */
export function takeSmallBodies(app: FastifyInstance, bodyBytes: number = limits.signIn.bodyBytes): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: bodyBytes },
    (_request, body, done) => done(null, String(body)),
  );
}

/** Throws `invalid_argument`, with an example of what is wanted. */
export function parseSmallBody(body: unknown, example: string): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    throw invalidArgument('body', 'The body is no JSON object.', `Send ${example}.`);
  }
}
