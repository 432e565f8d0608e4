/** POST /v1/sign-in/passkey/challenge asks for a passkey, POST /v1/sign-in/passkey signs in with the answer. */
import type { FastifyInstance } from 'fastify';
import { validateInput } from '../../../../catalog/validate.ts';
import type { Services } from '../../../../control/services.ts';
import { auditActions } from '../../../../model/audit.ts';
import { limits } from '../../../../model/limits.ts';
import type { Attempts } from '../../sign-in/attempts.ts';
import { askingOf, endChallenge, originOfPage, setChallenge } from '../../sign-in/challenge-cookie.ts';
import { addOpening, addOpenPost } from '../../sign-in/opening.ts';
import { signingInput } from './answers.ts';

const { bodyBytes } = limits.passkeys;

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
