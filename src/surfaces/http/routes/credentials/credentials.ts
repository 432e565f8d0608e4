/** Routes of passkeys and passwords. */
import type { FastifyInstance } from 'fastify';
import type { Services } from '../../../../control/services.ts';
import type { Attempts } from '../../sign-in/attempts.ts';
import { addPasskeySignIn } from './passkey-sign-in.ts';
import { addPasskeyRoutes } from './passkeys.ts';
import { addPasswordRoutes } from './password.ts';
import { addWaysRoute } from './ways.ts';

/** @param attempts Counted together with the other ways of signing in. */
export function addCredentialRoutes(app: FastifyInstance, services: Services, attempts: Attempts): void {
  addPasskeySignIn(app, services, attempts);
  addPasskeyRoutes(app, services);
  addPasswordRoutes(app, services, attempts);
  addWaysRoute(app, services);
}
