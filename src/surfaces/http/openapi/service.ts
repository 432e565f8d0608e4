/** Fixed part of the OpenAPI description, which no tool adds to: errors, bytes of files, tunnels, health. */
import { errorTable } from '../../../model/errors.ts';
import { providerNames } from '../../../model/provider.ts';
import { linuxUserPattern } from '../../../model/sandbox.ts';

export type Json = Record<string, unknown>;

export const JSON_TYPE = 'application/json';

const failure = { $ref: '#/components/responses/Failure' };

/** The statuses of the table of errors, each once. */
export const failures: Json = Object.fromEntries(
  [...new Set(Object.values(errorTable).map(({ status }) => status))]
    .sort()
    .map((status) => [status, failure]),
);

export const problemSchema: Json = {
  type: 'object',
  description: 'Problem details as in RFC 9457.',
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(errorTable) },
    detail: { type: 'string', description: 'Description of the error.' },
    hint: { type: 'string', description: 'Next step.' },
    parameter: { type: 'string', description: 'The parameter at fault; dotted where nested.' },
    resource: { type: 'string', description: 'Kind of the missing thing.' },
    retryable: { type: 'boolean', description: 'True when the same call may succeed later.' },
    retry_after_seconds: {
      type: 'integer',
      description:
        'When the same call will be taken; nothing of it was done. Also as the header Retry-After.',
    },
    request_id: { type: 'string' },
    authorization_url: {
      type: 'string',
      description: 'URL where a person authorizes, once; of authorization_required.',
    },
  },
};

const catalogueOperation: Json = {
  operationId: 'listTools',
  summary: 'List the tools',
  tags: ['Service'],
  parameters: [
    {
      name: 'toolsets',
      in: 'query',
      description: 'Only these groups, separated by commas, such as files,git; all for every one.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    '200': {
      description: 'The tools with their schemas.',
      content: {
        [JSON_TYPE]: {
          schema: {
            type: 'object',
            required: ['tools'],
            properties: {
              tools: { type: 'array', items: { type: 'object' } },
              toolkits: { type: 'object', description: 'Versions of the toolkits, by name.' },
            },
          },
        },
      },
    },
    ...failures,
  },
};

const descriptionOperation: Json = {
  operationId: 'getOpenApi',
  summary: 'This description',
  tags: ['Service'],
  responses: {
    '200': { description: 'OpenAPI 3.1.', content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
    ...failures,
  },
};

export const linuxUser: Json = { type: 'string', pattern: linuxUserPattern.source };
export const sandboxInPath: Json = {
  name: 'sandbox',
  in: 'path',
  required: true,
  description: 'Sandbox name or ID.',
  schema: { type: 'string' },
};
const bytes: Json = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

const filesPath: Json = {
  parameters: [
    sandboxInPath,
    {
      name: 'path',
      in: 'query',
      required: true,
      description: "The file, absolute, or relative to /workspace or the user's home.",
      schema: { type: 'string' },
    },
    { name: 'user', in: 'query', description: 'Linux user, from its home.', schema: linuxUser },
  ],
  get: {
    operationId: 'readFileBytes',
    summary: 'Read the bytes of a file',
    tags: ['Files'],
    parameters: [
      {
        name: 'Range',
        in: 'header',
        description: 'One range of bytes: bytes=0-99, bytes=100- or bytes=-100.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      '200': { description: 'The whole file.', content: bytes },
      '206': { description: 'The range.', content: bytes },
      '416': failure,
      ...failures,
    },
  },
  put: {
    operationId: 'writeFileBytes',
    summary: 'Write the bytes of a file',
    tags: ['Files'],
    parameters: [
      {
        name: 'mode',
        in: 'query',
        description: 'Unix permissions, 3 or 4 octal digits; otherwise those of the file that is replaced.',
        schema: { type: 'string', pattern: '^[0-7]{3,4}$' },
      },
      {
        name: 'create_parents',
        in: 'query',
        description: 'Make missing parent folders.',
        schema: { type: 'boolean', default: true },
      },
      {
        name: 'durable',
        in: 'query',
        description: 'Safe from a power cut once it answers; otherwise within two seconds.',
        schema: { type: 'boolean', default: false },
      },
    ],
    requestBody: { required: true, content: bytes },
    responses: {
      '200': { description: 'Written.', content: { [JSON_TYPE]: { schema: reference('WriteFileResult') } } },
      ...failures,
    },
  },
};

const tunnelPath: Json = {
  get: {
    operationId: 'openTunnel',
    summary: 'Connect to a port inside',
    description:
      'With `Connection: Upgrade` and `Upgrade: tcp` the answer is 101, and from then on the bytes of one connection ' +
      "to the port of the sandbox's own loopback, both ways. Each way has its own end.",
    tags: ['Ports'],
    parameters: [
      sandboxInPath,
      {
        name: 'port',
        in: 'query',
        required: true,
        description: 'Port inside the sandbox.',
        schema: { type: 'integer', minimum: 1, maximum: 65_535 },
      },
    ],
    responses: {
      '101': { description: 'Connected.' },
      '426': failure,
      ...failures,
    },
  },
};

const eventsPath: Json = {
  get: {
    operationId: 'followEvents',
    summary: 'Follow changes of your sandboxes',
    description:
      'Server-sent events, until either side ends the stream: `ready` first, then `sandbox` with the sandbox as ' +
      'GetSandbox has it, `sandbox_deleted` with its `id`, and `refresh` when changes may have been missed. List whatever ' +
      'you follow after `ready` and after each `refresh`. With `usage=true` there is `usage` each few seconds: what your started sandboxes ' +
      'use, the newest 200 at most, with `cpu` (cores, limit, percent), `memory` and `disk` (bytes, limit_bytes); null where ' +
      'it is not known. With `snapshots=true` there is `snapshot` as GetSnapshot has it, ' +
      '`snapshot_deleted` with its `id`, and `snapshot_progress` with `id`, `message`, `done_bytes` and `total_bytes` (null where ' +
      'not known). With `audit=true` there is `audit` with new `rows` as ListAudit has them, those of your own calls or ' +
      'an admin’s all, and `audit_missed` when there were too many, or they could not be read: list them. With `network=SANDBOX` there is' +
      '`network` with `sandbox`, new `events` of its log as GetNetworkLog has them, and how many were `dropped`. With `health=true`, for admins, there ' +
      'is `health` each five seconds: what GetHealth answers on the replica that has the stream, with the newest findings of the ' +
      'doctor, and without them before there are any.',
    tags: ['Service'],
    parameters: [
      {
        name: 'usage',
        in: 'query',
        description: 'Sample what started sandboxes use.',
        schema: { type: 'boolean', default: false },
      },
      {
        name: 'snapshots',
        in: 'query',
        description: 'Also changes of snapshots, and how far one is that is being made.',
        schema: { type: 'boolean', default: false },
      },
      {
        name: 'audit',
        in: 'query',
        description: 'Also new rows of the audit log; needs the scope account.',
        schema: { type: 'boolean', default: false },
      },
      {
        name: 'network',
        in: 'query',
        description: 'Name or ID of a sandbox: also new events of its network log.',
        schema: { type: 'string' },
      },
      {
        name: 'health',
        in: 'query',
        description: 'Also the health of the service; for admins, and needs the scope admin.',
        schema: { type: 'boolean', default: false },
      },
    ],
    responses: {
      '200': {
        description: 'The stream.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      ...failures,
    },
  },
};

const page: Json = { 'text/html': { schema: { type: 'string' } } };

/** For browsers: the state in the query authorizes it, once. */
const callbackPath: Json = {
  get: {
    operationId: 'askToAuthorize',
    summary: 'Receive a browser back from the code-hosting provider',
    tags: ['Service'],
    security: [],
    parameters: [
      { name: 'provider', in: 'path', required: true, schema: { enum: [...providerNames] } },
      ...['state', 'code', 'error'].map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
    ],
    responses: {
      '200': { description: 'A page.', content: page },
      '400': { description: 'Too late.', content: page },
    },
  },
};

export const servicePaths: Json = {
  '/auth/{provider}/callback': callbackPath,
  '/v1/tools': { get: catalogueOperation },
  '/v1/sandboxes/{sandbox}/files': filesPath,
  '/v1/sandboxes/{sandbox}/tunnel': tunnelPath,
  '/v1/events': eventsPath,
  '/healthz': { get: healthOperation('getHealth', 'Report that the process runs', {}) },
  '/readyz': { get: healthOperation('getReadiness', 'Report that calls are accepted', { '503': failure }) },
  '/openapi.json': { get: descriptionOperation },
};

function healthOperation(operationId: string, summary: string, more: Json): Json {
  const schema = { type: 'object', required: ['status'], properties: { status: { type: 'string' } } };
  return {
    operationId,
    summary,
    tags: ['Service'],
    security: [],
    responses: {
      '200': { description: 'Yes.', content: { [JSON_TYPE]: { schema } } },
      '4XX': failure,
      ...more,
    },
  };
}

export function reference(schema: string): Json {
  return { $ref: `#/components/schemas/${schema}` };
}
