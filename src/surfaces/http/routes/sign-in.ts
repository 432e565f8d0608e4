/**
 * /v1/sign-in: POST opens a browser's sign-in with an API key or a one-time ticket and sets its cookie, GET shows the
 * caller, DELETE signs out. Beside it the ways of signing in at this address, and passwords.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { name, toPasskeyView } from '../../../administration/credentials.ts';
import { text } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Opened } from '../../../control/people/sign-ins.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { isSignInId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { subjectOf } from '../base/origin.ts';
import { askingOf, endChallenge, endedCookie, originOfPage, setChallenge } from '../sign-in/cookies.ts';
import { addIdentityProviderRoutes } from '../sign-in/identity-provider.ts';
import type { Attempts } from '../sign-in/network-rate.ts';
import { addOpening, addOpenPost, viewOf } from '../sign-in/opening.ts';

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

// Routes of passkeys: a browser signs in with one, and who is signed in adds one.

const { bodyBytes: passkeyBytes } = limits.passkeys;

/** POST /v1/sign-in/passkey/challenge asks for a passkey, POST /v1/sign-in/passkey signs in with the answer. */
export function addPasskeySignIn(app: FastifyInstance, services: Services, attempts: Attempts): void {
  const { passkeys } = services;
  const asking = { url: '/v1/sign-in/passkey/challenge', bodyBytes: passkeyBytes, attempts: null };
  addOpenPost(app, asking, async (request, reply) => {
    const { options, cookie } = await passkeys.askToSignIn(originOfPage(request));
    setChallenge(reply, cookie);
    return { options };
  });

  addOpening(app, services, attempts, {
    ...{ url: '/v1/sign-in/passkey', bodyBytes: passkeyBytes, action: auditActions.signInByPasskey },
    example: '{"response": {…}}',
    async openWith(request, body, reply) {
      const { response } = validateInput(signingInput, body);
      const opened = await passkeys.signIn(askingOf(request), response);
      endChallenge(reply);
      return opened;
    },
  });
}

/** POST /v1/passkeys/challenge asks the browser of who is signed in for a new passkey, POST /v1/passkeys adds it. */
export function addPasskeyRoutes(app: FastifyInstance, { passkeys, audit }: Services): void {
  app.post('/v1/passkeys/challenge', async (request, reply) => {
    const { options, cookie } = await passkeys.askToAdd(request.caller, originOfPage(request));
    setChallenge(reply, cookie);
    return { options };
  });

  app.post('/v1/passkeys', async (request, reply) =>
    audit.call(subjectOf(request, auditActions.passkeyAdd), async () => {
      const { name, response: answer } = validateInput(addingInput, request.body);
      const passkey = await passkeys.add(request.caller, askingOf(request), { name, answer });
      endChallenge(reply);
      return toPasskeyView(passkey);
    }),
  );
}

const { credentialIdChars, textChars, transports, transportChars } = limits.passkeys;

const base64url = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]+$/, 'must be base64url')
    .meta({ sensitive: true });

const credential = { id: base64url(credentialIdChars), rawId: base64url(credentialIdChars) };
const type = z.literal('public-key');

/** Answers of browsers about passkeys, bounded before anything reads them. Fields that nobody needs are left out. */
const addingInput = z.strictObject({
  name,
  response: z.object({
    ...{ ...credential, type },
    response: z.object({
      clientDataJSON: base64url(textChars),
      attestationObject: base64url(textChars),
      transports: z
        .array(
          z
            .string()
            .max(transportChars)
            .regex(/^[a-z-]+$/),
        )
        .max(transports)
        .optional(),
    }),
  }),
});

const signingInput = z.strictObject({
  response: z.object({
    ...{ ...credential, type },
    response: z.object({
      clientDataJSON: base64url(textChars),
      authenticatorData: base64url(textChars),
      signature: base64url(textChars),
      userHandle: base64url(textChars).nullish(),
    }),
  }),
});
