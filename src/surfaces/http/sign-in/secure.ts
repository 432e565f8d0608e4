/** Connections on which browsers keep the cookie of a sign-in. */
import type { FastifyRequest } from 'fastify';
import { SandhavenError } from '../../../model/errors.ts';
import { keepsSignIn } from '../../../model/network/own-name.ts';

/** Throws `failed_precondition`: browsers keep the cookie on secure connections and on loopback alone. */
export function assertSecure({ arrival }: FastifyRequest): void {
  if (keepsSignIn(`${arrival.protocol}://${arrival.host}`)) return;
  throw new SandhavenError('failed_precondition', 'Browsers sign in over HTTPS, or on the machine itself.', {
    hint: 'The operator sets up TLS with --tls-cert and --tls-key, or a proxy: docs/reverse-proxy.md.',
  });
}
