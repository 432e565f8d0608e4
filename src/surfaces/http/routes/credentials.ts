/** Routes of passkeys and passwords, and of the ways of signing in at this address. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { text } from '../../../catalog/parameters/text.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { limits } from '../../../model/limits.ts';
import { subjectOf } from '../origin.ts';
import { originOfPage } from '../sign-in/cookies.ts';
import type { Attempts } from '../sign-in/network-rate.ts';
import { addOpening } from '../sign-in/opening.ts';
import { addPasskeyRoutes, addPasskeySignIn } from './passkeys.ts';

/** @param attempts Counted together with the other ways of signing in. */
export function addCredentialRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  addPasskeySignIn(app, services, attempts);
  addPasskeyRoutes(app, services);
  addPasswordRoutes(app, services, attempts);
  addWaysRoute(app, services);
}

/** GET /v1/sign-in/ways names the ways of signing in at this address, to anybody. */
function addWaysRoute(app: FastifyInstance, { passkeys, passwords, providerSignIns }: Services): void {
  app.get('/v1/sign-in/ways', { config: { open: true }, exposeHeadRoute: false }, async (request) => ({
    ways: [
      ...['key', 'link'],
      ...(passkeys.isOfferedAt(originOfPage(request)) ? ['passkey'] : []),
      ...(passwords.isTaken ? ['password'] : []),
      ...(providerSignIns ? ['provider'] : []),
    ],
    // The provider is not asked.
    provider: providerSignIns && { name: providerSignIns.name },
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
