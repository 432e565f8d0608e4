/** Routes of passkeys: a browser signs in with one, and who is signed in adds one. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { name, toPasskeyView } from '../../../administration/credentials.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { limits } from '../../../model/limits.ts';
import { subjectOf } from '../base/origin.ts';
import { askingOf, endChallenge, originOfPage, setChallenge } from '../sign-in/cookies.ts';
import type { Attempts } from '../sign-in/network-rate.ts';
import { addOpening, addOpenPost } from '../sign-in/opening.ts';

const { bodyBytes } = limits.passkeys;

/** POST /v1/sign-in/passkey/challenge asks for a passkey, POST /v1/sign-in/passkey signs in with the answer. */
export function addPasskeySignIn(app: FastifyInstance, services: Services, attempts: Attempts): void {
  const { passkeys } = services;
  const asking = { url: '/v1/sign-in/passkey/challenge', bodyBytes, attempts: null };
  addOpenPost(app, asking, async (request, reply) => {
    const { options, cookie } = await passkeys.askToSignIn(originOfPage(request));
    setChallenge(reply, cookie);
    return { options };
  });

  addOpening(app, services, attempts, {
    ...{ url: '/v1/sign-in/passkey', bodyBytes, action: auditActions.signInByPasskey },
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
