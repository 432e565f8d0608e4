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
  '/v1/sign-in/device': {
    post: {
      operationId: 'beginDeviceSignIn',
      summary: 'Sign a machine in',
      description:
        'For a machine without a browser (RFC 8628). Its user opens verification_uri_complete anywhere, signs in and ' +
        'approves; meanwhile the machine asks for the answer every `interval` seconds.',
      tags: ['Service'],
      security: [],
      requestBody: bodyOf({ machine: { type: 'string', description: 'What its user knows it as.' } }),
      responses: {
        '200': {
          description: 'The code to show, and the secret to ask with.',
          content: {
            [JSON_TYPE]: {
              schema: {
                type: 'object',
                properties: {
                  ...{ device_code: { type: 'string' }, user_code: { type: 'string' } },
                  ...{ verification_uri: { type: 'string' }, verification_uri_complete: { type: 'string' } },
                  expires_in: { type: 'integer', description: 'Seconds.' },
                  interval: { type: 'integer', description: 'Seconds.' },
                },
              },
            },
          },
        },
        ...failures,
      },
    },
  },
  '/v1/sign-in/device/answer': {
    post: {
      operationId: 'getDeviceKey',
      summary: 'Get the key of a machine',
      description: 'Gives the key once. 202 while nobody has decided.',
      tags: ['Service'],
      security: [],
      requestBody: bodyOf({ device_code: { type: 'string' } }),
      responses: {
        '200': { description: 'The key.', content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
        '202': { description: 'Nobody has decided yet.' },
        ...failures,
      },
    },
  },
};

function bodyOf(properties: Json): Json {
  const schema = {
    type: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
  };
  return { required: true, content: { [JSON_TYPE]: { schema } } };
}

/**
 * The part of the OpenAPI description about signing in by the team's identity provider, but for the page of its
 * callback.
 */
export const providerSignInPaths: Json = {
  '/v1/sign-in/provider': {
    post: {
      operationId: 'startIdentityProviderSignIn',
      summary: 'Begin a sign-in at the identity provider',
      description:
        'For the page of this service alone: sets a short-lived cookie, and names the page to go to.',
      tags: ['Service'],
      security: [],
      requestBody: {
        required: true,
        content: {
          [JSON_TYPE]: {
            schema: {
              type: 'object',
              properties: {
                return_path: {
                  type: 'string',
                  default: '/',
                  description: 'Path of the page to come back to.',
                },
              },
              additionalProperties: false,
            },
          },
        },
      },
      responses: {
        '200': {
          description: 'The page of the provider.',
          content: {
            [JSON_TYPE]: {
              schema: { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
            },
          },
        },
        ...failures,
      },
    },
  },
  '/v1/sign-in/provider/logout': {
    post: {
      operationId: 'receiveProviderLogout',
      summary: 'Receive a logout token of the identity provider',
      description: 'OpenID Connect Back-Channel Logout 1.0: ends the sign-ins of a session, or of a person.',
      tags: ['Service'],
      security: [],
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: {
              type: 'object',
              required: ['logout_token'],
              properties: { logout_token: { type: 'string' } },
            },
          },
        },
      },
      responses: {
        '200': {
          description: 'The number of sign-ins that have ended.',
          content: {
            [JSON_TYPE]: {
              schema: { type: 'object', required: ['ended'], properties: { ended: { type: 'integer' } } },
            },
          },
        },
        ...failures,
      },
    },
  },
};
