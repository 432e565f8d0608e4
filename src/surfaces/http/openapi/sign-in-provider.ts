/** The part of the OpenAPI description about signing in by the team's identity provider, but for the page of its callback. */
import { failures, JSON_TYPE, type Json } from './service.ts';

export const providerSignInPaths: Json = {
  '/v1/sign-in/provider': {
    post: {
      operationId: 'startProviderSignIn',
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
