/** JSON bodies, with errors that tell where they are wrong and repeat nothing of what they hold. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { SandhavenError } from '../../model/errors.ts';

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseJson(body as Buffer, request.headers['content-encoding']));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

/** An empty body is no parameters. */
function parseJson(body: Buffer, encoding: string | undefined): unknown {
  if (encoding !== undefined && encoding !== 'identity') {
    throw invalidBody('A compressed request body is not accepted.', 'Send it without Content-Encoding.');
  }
  if (body.length === 0) return {};
  if (!isUtf8(body)) throw invalidBody('The request body is not valid UTF-8.');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    const position = /at position \d+/.exec(error instanceof Error ? error.message : '');
    throw invalidBody(`The request body is not valid JSON${position ? ` (${position[0]})` : ''}.`);
  }
}

function invalidBody(detail: string, hint = 'Send the parameters as one JSON object.'): SandhavenError {
  return new SandhavenError('invalid_argument', detail, { parameter: 'body', hint });
}
