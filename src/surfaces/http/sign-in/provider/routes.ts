/**
 * Routes of a service with an identity provider: /v1/sign-in/provider begins a sign-in there, its callback receives the
 * browser, and its logout receives the provider's reports.
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
  if (!providerSignIns) return;
  addStart(app, providerSignIns, attempts);
  addCallback(app, providerSignIns, services);
  addLogout(app, providerSignIns, audit);
}
