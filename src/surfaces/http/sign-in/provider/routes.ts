/**
 * /v1/sign-in/ways shows the ways of signing in. Where there is an identity provider, /v1/sign-in/provider begins a
 * sign-in there, its callback receives the browser, and its logout receives the provider's reports.
 */
import type { FastifyInstance } from 'fastify';
import type { Services } from '../../../../control/services.ts';
import type { Attempts } from '../attempts.ts';
import { addCallback } from './callback.ts';
import { addLogout } from './logout.ts';
import { addStart } from './start.ts';

/** @param attempts Counted together with the other ways of signing in. */
export function addProviderSignInRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  const { providerSignIns, audit } = services;
  const ways = providerSignIns ? ['key', 'link', 'provider'] : ['key', 'link'];
  const shown = { ways, provider: providerSignIns ? { name: providerSignIns.name } : null };
  // The same for everybody, and known beforehand: the provider is not asked.
  app.get('/v1/sign-in/ways', { config: { open: true }, exposeHeadRoute: false }, async () => shown);
  if (!providerSignIns) return;
  addStart(app, providerSignIns, attempts);
  addCallback(app, providerSignIns, audit);
  addLogout(app, providerSignIns, audit);
}
