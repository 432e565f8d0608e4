/** Describes builds of snapshots, as far as OpenAPI can: the events of the answer are in docs/builds.md. */
import { failures, type Json } from './service.ts';

const text = (name: string, description: string, more: Json = {}): Json => ({
  ...{ name, in: 'query', description },
  schema: { type: 'string', ...more },
});

const ofBuild: Json = { name: 'build', in: 'path', required: true, schema: { type: 'string' } };

const json = (properties: Json): Json => ({ 'application/json': { schema: { type: 'object', properties } } });

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
        text('detach', 'true: the answer is the id of the build, which goes on without its client.', {
          ...{ enum: ['true', 'false'], default: 'false' },
        }),
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
        '202': { description: 'The build goes on.', content: json({ build_id: { type: 'string' } }) },
        ...failures,
      },
    },
  },
  '/v1/builds/{build}': {
    get: {
      operationId: 'readBuild',
      summary: 'Read a detached build',
      description:
        'Events from a position on, a hundred at most, and how it ended. It is kept for an hour after its end.',
      tags: ['Files'],
      parameters: [
        ofBuild,
        { ...text('from', 'Position.'), schema: { type: 'integer', minimum: 0, default: 0 } },
      ],
      responses: {
        '200': {
          description: 'The build.',
          content: json({
            build_id: { type: 'string' },
            name: { type: 'string' },
            state: { type: 'string', enum: ['waiting', 'building', 'ready', 'failed'] },
            events: { type: 'array', items: { type: 'object' } },
            next: { type: 'integer', description: 'Position after these events.' },
            snapshot: { type: ['object', 'null'] },
            problem: { type: ['object', 'null'] },
          }),
        },
        ...failures,
      },
    },
    delete: {
      operationId: 'endBuild',
      summary: 'End and forget a detached build',
      tags: ['Files'],
      parameters: [ofBuild],
      responses: {
        '204': { description: 'It is gone; its snapshot, where there is one, stays.' },
        ...failures,
      },
    },
  },
};
