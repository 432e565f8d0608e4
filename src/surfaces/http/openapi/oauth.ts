/** The part of the OpenAPI description about authorizing applications by OAuth. */
import { failures, JSON_TYPE, type Json } from './service.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

const shown = (description: string): Json => ({
  '200': { description, content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
  ...failures,
});

const body = (type: string, properties: Json): Json => ({
  required: true,
  content: { [type]: { schema: { type: 'object', properties } } },
});

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const uid = { name: 'uid', in: 'path', required: true, description: 'The request.', schema: text };
const open = { tags: ['OAuth'], security: [] };

const document = (operationId: string, summary: string, standard: string): Json => ({
  get: { operationId, summary, ...open, responses: shown(`The document of ${standard}.`) },
});

export const oauthPaths: Json = {
  '/.well-known/oauth-protected-resource': document(
    'getResourceMetadata',
    'Describe the resource',
    'RFC 9728',
  ),
  '/.well-known/oauth-protected-resource/mcp': document(
    'getMcpMetadata',
    'Describe MCP as a resource',
    'RFC 9728',
  ),
  '/.well-known/oauth-authorization-server': document(
    'getAuthorizationServerMetadata',
    'Describe the authorization server',
    'RFC 8414',
  ),
  '/oauth/register': {
    post: {
      operationId: 'registerOAuthClient',
      summary: 'Register an OAuth client',
      description:
        'As in RFC 7591. Clients are public. One that nobody authorizes within a day is forgotten.',
      ...open,
      requestBody: body(JSON_TYPE, { redirect_uris: texts, client_name: text }),
      responses: {
        '201': { description: 'The client.', content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
        ...failures,
      },
    },
  },
  '/oauth/token': {
    post: {
      operationId: 'getToken',
      summary: 'Get a token for a code or a refresh token',
      ...open,
      requestBody: body(FORM_TYPE, { grant_type: text, client_id: text, code: text, refresh_token: text }),
      responses: shown('The tokens.'),
    },
  },
  '/oauth/revoke': {
    post: {
      operationId: 'revokeToken',
      summary: 'Revoke a token and its authorization',
      description: 'As in RFC 7009.',
      ...open,
      requestBody: body(FORM_TYPE, { token: text, client_id: text }),
      responses: { '200': { description: 'Revoked, or unknown.' }, ...failures },
    },
  },
  '/authorize/{uid}/request': {
    get: {
      operationId: 'getAuthorizationRequest',
      summary: 'Show who asks for an authorization',
      description: 'For the page of this service alone, in the browser that the request began in.',
      tags: ['OAuth'],
      parameters: [uid],
      responses: shown('The application and the scopes that it asks for.'),
    },
  },
  '/authorize/{uid}/decision': {
    post: {
      operationId: 'decideAuthorizationRequest',
      summary: 'Allow or deny an authorization',
      description: 'For the page of this service alone, in the browser that the request began in.',
      tags: ['OAuth'],
      parameters: [uid],
      requestBody: body(JSON_TYPE, { allow: { type: 'boolean' }, scopes: texts }),
      responses: shown('The address to go on to.'),
    },
  },
};
