/**
 * Routes of a service with an identity provider: /v1/sign-in/provider begins a sign-in there, its callback receives the
 * browser, and its logout receives the provider's reports.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { validateInput } from '../../../../catalog/validate.ts';
import type { ProviderSignIns } from '../../../../control/people/provider/provider-sign-ins.ts';
import type { Services } from '../../../../control/services.ts';
import { limits } from '../../../../model/limits.ts';
import type { Attempts } from '../attempts.ts';
import { addOpenPost } from '../opening.ts';
import { parseSmallBody } from '../small-body.ts';
import { addCallback } from './callback.ts';
import { addLogout } from './logout.ts';
import { setPending } from './pending-cookie.ts';

/** @param attempts Counted together with the other ways of signing in. */
export function addProviderSignInRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  const { providerSignIns, audit } = services;
  if (!providerSignIns) return;
  addStart(app, providerSignIns, attempts);
  addCallback(app, providerSignIns, services);
  addLogout(app, providerSignIns, audit);
}

/**
 * POST /v1/sign-in/provider begins a sign-in at the identity provider, for the service's own page alone: no other site
 * sends a browser on its way.
 */
const starting = z.strictObject({
  return_path: z.string().min(1).max(limits.identity.returnPathChars).default('/'),
});

function addStart(app: FastifyInstance, providerSignIns: ProviderSignIns, attempts: Attempts): void {
  const route = { url: '/v1/sign-in/provider', bodyBytes: limits.signIn.bodyBytes, attempts };
  addOpenPost(app, route, async ({ arrival, body }, reply) => {
    const given = parseSmallBody(body, '{} or {"return_path": "/…"}');
    const { return_path: returnPath } = validateInput(starting, given);
    const { origin } = new URL(`${arrival.protocol}://${arrival.host}`);
    const { url, cookie, seconds } = await providerSignIns.begin(arrival.client, origin, returnPath);
    setPending(reply, cookie, seconds);
    return { url };
  });
}
