/** Derives the OpenAPI 3.1 description of the HTTP surface from the catalogue. */
import type { FastifyInstance } from 'fastify';
import { type ActionDescription, actionDescriptions } from '../../../administration/call.ts';
import { descriptions, type ToolDescription } from '../../../catalog/describe.ts';
import { toolkitVersions } from '../../../catalog/toolsets.ts';
import { SIGN_IN_COOKIE } from '../../../model/access/sign-ins.ts';
import { limits } from '../../../model/limits.ts';
import { buildPaths } from './builds.ts';
import { credentialPaths } from './credentials.ts';
import { oauthPaths } from './oauth.ts';
import { packagesPaths } from './packages.ts';
import { failures, JSON_TYPE, type Json, problemSchema, reference, servicePaths } from './service.ts';
import { providerSignInPaths, signInPaths } from './sign-in.ts';
import { processPaths, terminalPaths, watchPaths } from './streams.ts';

/** @param url The service's own, or `/`: the origin of the description. */
export function openApi(version: string, url = '/'): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandhaven',
      version,
      summary: 'Self-hosted sandboxes and data access for language-model agents.',
      description:
        'Every tool is one POST with its parameters as a JSON object. Unknown parameters are refused. With ' +
        '`Accept: text/event-stream` the answer is `progress` events and then one `result` or `error` event: use it ' +
        'for calls that may take over a minute. What a program prints comes as `output` events while it runs: ' +
        '`stream` (stdout or stderr), `text`, and `left_out_bytes` where some are missing before it: a client that ' +
        'reads slowly slows no program down. With `?output=bytes` they have `base64` in place of `text`, all that is ' +
        'printed, byte for byte: the program waits for its reader. The result is the same as without them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      'x-toolkits': toolkitVersions,
    },
    servers: [{ url, description: 'The service that this description comes from.' }],
    security: [{ bearer: [] }, { apiKey: [] }, { cookie: [] }],
    tags: [
      { name: 'Tools', description: 'Tools for agents.' },
      { name: 'Files', description: 'Bytes of files, streamed.' },
      { name: 'Ports', description: 'Bytes of connections.' },
      { name: 'Terminals', description: 'Terminals that go on without viewers.' },
      { name: 'Processes', description: 'Output of processes that outlive their caller.' },
      { name: 'Administration', description: 'Actions of operators and members on the service.' },
      { name: 'OAuth', description: 'Authorization of MCP clients by people.' },
      { name: 'Service', description: 'The service itself.' },
    ],
    paths: {
      ...Object.fromEntries(
        descriptions.map((tool) => [`/v1/tools/${tool.name}`, { post: toolOperation(tool) }]),
      ),
      ...adminPaths,
      ...servicePaths,
      ...packagesPaths,
      ...buildPaths,
      ...signInPaths,
      ...credentialPaths,
      ...providerSignInPaths,
      ...oauthPaths,
      ...terminalPaths,
      ...processPaths,
      ...watchPaths,
      ...metricsPaths,
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The API key.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key.' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: SIGN_IN_COOKIE,
          description: "A browser's sign-in, for the page of this service.",
        },
      },
      schemas: {
        Problem: problemSchema,
        ...Object.fromEntries(
          descriptions.flatMap((tool) => [
            [`${shortName(tool)}Input`, tool.input_schema],
            [`${shortName(tool)}Result`, tool.output_schema],
          ]),
        ),
        ...adminSchemas,
      },
      responses: {
        Failure: {
          description: 'The call failed; `code` says how, `detail` what is wrong, `hint` what to do next.',
          content: { 'application/problem+json': { schema: reference('Problem') } },
        },
      },
    },
  };
}

function toolOperation(tool: ToolDescription): Json {
  const parameters = { parameters: [...(tool.idempotency_key ? [idempotencyKey] : []), output, team] };
  return {
    operationId: shortName(tool),
    summary: tool.title,
    description: tool.description,
    tags: ['Tools'],
    ...parameters,
    requestBody: {
      required: (tool.input_schema.required ?? []).length > 0,
      content: { [JSON_TYPE]: { schema: reference(`${shortName(tool)}Input`) } },
    },
    responses: {
      '200': {
        description: 'The result.',
        headers: { 'x-request-id': requestIdHeader },
        content: {
          [JSON_TYPE]: { schema: reference(`${shortName(tool)}Result`) },
          'text/event-stream': { schema: { type: 'string' } },
        },
      },
      ...failures,
    },
  };
}

const requestIdHeader: Json = { description: 'Finds the call in the log.', schema: { type: 'string' } };

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes a retry safe: the same key and request give the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyChars },
};

const output: Json = {
  name: 'output',
  in: 'query',
  description:
    '`bytes`: events of output have all bytes that a program prints, and it waits for them to be read.',
  schema: { type: 'string', enum: ['bytes'] },
};

const team: Json = {
  name: 'Sandhaven-Team',
  in: 'header',
  description:
    'Name or ID of a team that you are in: the call acts for it. From an admin who may read inside, any owner.',
  schema: { type: 'string', minLength: 1, maxLength: limits.userEmailChars },
};

/** Returns CreateSandbox for Sandbox.CreateSandbox; the names of all toolkits are distinct. */
function shortName({ name }: ToolDescription): string {
  return name.slice(name.indexOf('.') + 1);
}

/** The part of the OpenAPI description about metrics. */
const metricsPaths: Json = {
  '/metrics': {
    get: {
      operationId: 'scrapeMetrics',
      summary: 'Metrics for Prometheus',
      description:
        "For admins: it needs the scope admin. A scrape within a second of another gets that one's text.",
      tags: ['Service'],
      security: [{ bearer: [] }, { apiKey: [] }],
      responses: {
        '200': {
          description: 'The metrics, as OpenMetrics where Accept names it.',
          content: {
            'text/plain': { schema: { type: 'string' } },
            'application/openmetrics-text': { schema: { type: 'string' } },
          },
        },
        ...failures,
      },
    },
  },
};

/**
 * GET /openapi.json, made when it is first asked for: it is more than half a megabyte, and few services are asked.
 * @param parts `publicUrl` is that of the service, if any.
 */
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

/** Derives the administration part of the OpenAPI description from the actions. */
const adminPaths: Json = {
  '/v1/admin': { get: listOperation() },
  ...Object.fromEntries(
    actionDescriptions.map((action) => [`/v1/admin/${action.name}`, { post: actionOperation(action) }]),
  ),
};

const adminSchemas: Json = Object.fromEntries(
  actionDescriptions.flatMap(({ name, input_schema, output_schema }) => [
    [`${name}Input`, input_schema],
    [`${name}Result`, output_schema],
  ]),
);

function actionOperation({ name, title, description, role, input_schema }: ActionDescription): Json {
  return {
    operationId: name,
    summary: title,
    description: role === 'admin' ? `${description} For admins.` : description,
    tags: ['Administration'],
    requestBody: {
      required: (input_schema.required ?? []).length > 0,
      content: { [JSON_TYPE]: { schema: reference(`${name}Input`) } },
    },
    responses: {
      '200': {
        description: 'The result.',
        content: { [JSON_TYPE]: { schema: reference(`${name}Result`) } },
      },
      ...failures,
    },
  };
}

function listOperation(): Json {
  const schema = {
    type: 'object',
    required: ['actions'],
    properties: { actions: { type: 'array', items: { type: 'object' } } },
  };
  return {
    operationId: 'listActions',
    summary: 'List the administration actions',
    tags: ['Administration'],
    responses: {
      '200': { description: 'The actions with their schemas.', content: { [JSON_TYPE]: { schema } } },
      ...failures,
    },
  };
}
