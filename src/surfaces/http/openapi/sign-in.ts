/** The part of the OpenAPI description about signing in with a browser. */
import { failures, JSON_TYPE, type Json } from './service.ts';

const caller: Json = {
  type: 'object',
  required: ['user_id', 'name', 'email', 'role', 'scopes', 'sign_in_id', 'expires_at'],
  properties: {
    user_id: { type: 'string' },
    name: { type: 'string' },
    email: { type: 'string' },
    role: { type: 'string' },
    scopes: { type: ['array', 'null'], items: { type: 'string' }, description: 'null: all.' },
    sign_in_id: { type: ['string', 'null'], description: 'null: the request has an API key.' },
    expires_at: { type: ['string', 'null'] },
  },
};

export const shownCaller: Json = { description: 'The caller.', content: { [JSON_TYPE]: { schema: caller } } };

export const signInPaths: Json = {
  '/v1/sign-in': {
    post: {
      operationId: 'signIn',
      summary: 'Sign a browser in',
      description:
        'For the page of this service alone: sets a cookie that opens all routes but /mcp to requests of this origin. ' +
        'Takes an API key, or the ticket of a one-time link.',
      tags: ['Service'],
      security: [],
      requestBody: {
        required: true,
        content: {
          [JSON_TYPE]: {
            schema: {
              type: 'object',
              properties: { api_key: { type: 'string' }, ticket: { type: 'string' } },
              additionalProperties: false,
            },
          },
        },
      },
      responses: { '200': shownCaller, ...failures },
    },
    get: {
      operationId: 'getSignIn',
      summary: 'Show who calls',
      tags: ['Service'],
      responses: { '200': shownCaller, ...failures },
    },
    delete: {
      operationId: 'signOut',
      summary: 'Sign a browser out',
      tags: ['Service'],
      responses: {
        '200': {
          description: 'Signed out.',
          content: {
            [JSON_TYPE]: { schema: { type: 'object', properties: { signed_out: { type: 'boolean' } } } },
          },
        },
        ...failures,
      },
    },
  },
};
