/** The part of the OpenAPI description about passkeys and passwords: for the page of this service alone. */
import { failures, JSON_TYPE, type Json } from './service.ts';
import { shownCaller } from './sign-in.ts';

const text: Json = { type: 'string' };
const options: Json = objectOf({ options: { type: 'object', description: 'For the browser, in JSON.' } });
const response: Json = { type: 'object', description: 'What the browser answered, in JSON.' };

export const credentialPaths: Json = {
  '/v1/sign-in/ways': {
    get: {
      ...operation('listWaysToSignIn', 'List the ways of signing in at this address'),
      security: [],
      responses: {
        ...answer(
          'The ways.',
          objectOf({
            ways: { type: 'array', items: text, description: 'Of: key, link, passkey, password, provider.' },
            provider: {
              type: ['object', 'null'],
              properties: { name: text },
              description: 'null: there is none.',
            },
          }),
        ),
        ...failures,
      },
    },
  },
  '/v1/sign-in/passkey/challenge': {
    post: {
      ...operation('askForPasskey', 'Ask for a passkey'),
      description: 'Sets a cookie with the challenge, which is valid for five minutes and one answer.',
      security: [],
      responses: { ...answer('Options of the browser.', options), ...failures },
    },
  },
  '/v1/sign-in/passkey': {
    post: {
      ...operation('signInByPasskey', 'Sign a browser in with a passkey'),
      security: [],
      requestBody: body({ response }),
      responses: { '200': shownCaller, ...failures },
    },
  },
  '/v1/sign-in/password': {
    post: {
      ...operation('signInByPassword', 'Sign a browser in with a password'),
      description:
        'Where the operator takes passwords, and for users without a passkey. `user` is an email or a name.',
      security: [],
      requestBody: body({ user: text, password: text }),
      responses: { '200': shownCaller, ...failures },
    },
    put: {
      ...operation('setPassword', 'Set your password'),
      description: 'By a browser that signed in within 15 minutes.',
      requestBody: body({ password: text }),
      responses: { ...answer('It is set.', objectOf({ password_set: { type: 'boolean' } })), ...failures },
    },
  },
  '/v1/passkeys/challenge': {
    post: {
      ...operation('askForNewPasskey', 'Ask for a new passkey'),
      description: 'By a browser that signed in within 15 minutes.',
      responses: { ...answer('Options of the browser.', options), ...failures },
    },
  },
  '/v1/passkeys': {
    post: {
      ...operation('addPasskey', 'Add a passkey'),
      description: 'By a browser that signed in within 15 minutes.',
      requestBody: body({ name: text, response }),
      responses: { ...answer('The passkey, as ListPasskeys shows it.', { type: 'object' }), ...failures },
    },
  },
};

function operation(operationId: string, summary: string): Json {
  return { operationId, summary, tags: ['Service'] };
}

function objectOf(properties: Json): Json {
  return { type: 'object', required: Object.keys(properties), properties };
}

function body(properties: Json): Json {
  const schema = { ...objectOf(properties), additionalProperties: false };
  return { required: true, content: { [JSON_TYPE]: { schema } } };
}

function answer(description: string, schema: Json): Json {
  return { '200': { description, content: { [JSON_TYPE]: { schema } } } };
}
