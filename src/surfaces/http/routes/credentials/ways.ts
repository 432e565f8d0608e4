/** GET /v1/sign-in/ways names the ways of signing in at this address, to anybody. */
import type { FastifyInstance } from 'fastify';
import type { Services } from '../../../../control/services.ts';
import { originOfPage } from '../../sign-in/challenge-cookie.ts';

export function addWaysRoute(app: FastifyInstance, { passkeys, passwords, providerSignIns }: Services): void {
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
