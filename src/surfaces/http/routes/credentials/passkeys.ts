/** POST /v1/passkeys/challenge asks the browser of who is signed in for a new passkey, POST /v1/passkeys adds it. */
import type { FastifyInstance } from 'fastify';
import { toPasskeyView } from '../../../../administration/credentials.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import type { Services } from '../../../../control/services.ts';
import { auditActions } from '../../../../model/audit.ts';
import { subjectOf } from '../../origin.ts';
import { askingOf, endChallenge, originOfPage, setChallenge } from '../../sign-in/challenge-cookie.ts';
import { addingInput } from './answers.ts';

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
