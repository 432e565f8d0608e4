/** Describes builds of snapshots, as far as OpenAPI can: the events of the answer are in docs/builds.md. */
import { failures, type Json } from './service.ts';

const text = (name: string, description: string, more: Json = {}): Json => ({
  ...{ name, in: 'query', description },
  schema: { type: 'string', ...more },
});

export const buildPaths: Json = {
  '/v1/builds': {
    post: {
      operationId: 'buildSnapshot',
      summary: 'Build a snapshot from a Dockerfile',
      description:
        'The body is the context as a tar stream. The answer is a line of JSON for each event, the last one `result` or ' +
        '`error`; an empty line is no event. A client that leaves ends the build.',
      tags: ['Files'],
      parameters: [
        { ...text('name', 'Name of the snapshot; one that was built before goes for it.'), required: true },
        text('file', 'Path of the Dockerfile in the context.', { default: 'Dockerfile' }),
        text('target', 'Stage to build; the last one by default.'),
        {
          ...{
            name: 'build_arg',
            in: 'query',
            description: 'Value of an ARG, as NAME=value; may stand several times.',
          },
          schema: { type: 'array', items: { type: 'string' } },
        },
        text('cache', 'false: every step runs.', { enum: ['true', 'false'], default: 'true' }),
      ],
      requestBody: {
        required: true,
        content: { 'application/x-tar': { schema: { type: 'string', format: 'binary' } } },
      },
      responses: {
        '200': {
          description: 'The build has begun; its last line says how it ended.',
          content: { 'application/x-ndjson': { schema: { type: 'string' } } },
        },
        ...failures,
      },
    },
  },
};
