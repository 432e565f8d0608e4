/**
 * /v1/sign-in: POST opens a browser's sign-in with an API key or a one-time ticket and sets its cookie, GET shows the
 * caller, DELETE signs out. Beside it the ways of signing in at this address, and passwords.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { text } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Opened } from '../../../control/people/sign-ins.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { isSignInId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { subjectOf } from '../base/origin.ts';
import { endedCookie, originOfPage } from '../sign-in/cookies.ts';
import { addIdentityProviderRoutes } from '../sign-in/identity-provider.ts';
import type { Attempts } from '../sign-in/network-rate.ts';
import { addOpening, viewOf } from '../sign-in/opening.ts';
import { addPasskeyRoutes, addPasskeySignIn } from './passkeys.ts';

const secret = z.string().min(1).max(limits.signIn.secretChars);
const opening = z.strictObject({ api_key: secret.optional(), ticket: secret.optional() });

/** @param attempts Counted together with the other ways of signing in. */
export function addSignInRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  const { signIns, audit } = services;
  addOpening(app, services, attempts, {
    ...{ url: '/v1/sign-in', bodyBytes: limits.signIn.bodyBytes, action: auditActions.signIn },
    example: '{"api_key": "…"}',
    openWith: (_request, body) => openWith(signIns, validateInput(opening, body)),
  });

  addIdentityProviderRoutes(app, services, attempts);

  app.get('/v1/sign-in', { exposeHeadRoute: false }, async ({ caller }) => viewOf(caller));

  app.delete('/v1/sign-in', { config: { brief: true } }, async (request, reply) => {
    const { caller } = request;
    if (!isSignInId(caller.keyId)) throw byKey();
    return audit.call(subjectOf(request, auditActions.signOut), async () => {
      await signIns.revoke(caller, caller.keyId);
      reply.header('set-cookie', endedCookie);
      // What the page has kept of this user is nobody's any more.
      reply.header('clear-site-data', '"cache", "storage"');
      return { signed_out: true };
    });
  });
}

function openWith(
  signIns: Services['signIns'],
  { api_key: apiKey, ticket }: z.output<typeof opening>,
): Promise<Opened> {
  if (apiKey !== undefined && ticket === undefined) return signIns.openWithKey(apiKey);
  if (ticket !== undefined && apiKey === undefined) return signIns.openWithTicket(ticket);
  throw invalidArgument('api_key', 'Exactly one of api_key and ticket is required.', 'Give one of them.');
}

function byKey(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This request has an API key, which signs nobody in.', {
    hint: 'RevokeKey ends a key; RevokeSignIn ends any sign-in by its id.',
  });
}

/**
 * Routes of passkeys and passwords, and of the ways of signing in at this address.
 * @param attempts Counted together with the other ways of signing in.
 */
export function addCredentialRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  addPasskeySignIn(app, services, attempts);
  addPasskeyRoutes(app, services);
  addPasswordRoutes(app, services, attempts);
  addWaysRoute(app, services);
}

/** GET /v1/sign-in/ways names the ways of signing in at this address, to anybody. */
function addWaysRoute(
  app: FastifyInstance,
  { passkeys, passwords, identityProviderSignIns }: Services,
): void {
  app.get('/v1/sign-in/ways', { config: { open: true }, exposeHeadRoute: false }, async (request) => ({
    ways: [
      ...['key', 'link'],
      ...(passkeys.isOfferedAt(originOfPage(request)) ? ['passkey'] : []),
      ...(passwords.isTaken ? ['password'] : []),
      ...(identityProviderSignIns ? ['provider'] : []),
    ],
    // The provider is not asked.
    provider: identityProviderSignIns && { name: identityProviderSignIns.name },
  }));
}

const { bytesMax, bodyBytes } = limits.passwords;
/** Its rules are for setting one: a wrong password is wrong, whatever its length. */
const password = text().min(1).max(bytesMax).meta({ sensitive: true });
const openingInput = z.strictObject({ user: text().min(1).max(limits.userEmailChars), password });
const settingInput = z.strictObject({ password });

/** /v1/sign-in/password: POST signs in with a password, PUT sets the one of who is signed in. */
function addPasswordRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  const { passwords, audit } = services;
  addOpening(app, services, attempts, {
    ...{ url: '/v1/sign-in/password', bodyBytes, action: auditActions.signInByPassword },
    example: '{"user": "…", "password": "…"}',
    openWith: ({ arrival }, body) => passwords.signIn(validateInput(openingInput, body), arrival.client),
  });

  app.put('/v1/sign-in/password', async (request) =>
    audit.call(subjectOf(request, auditActions.passwordSet), async () => {
      await passwords.set(request.caller, validateInput(settingInput, request.body).password);
      return { password_set: true };
    }),
  );
}
