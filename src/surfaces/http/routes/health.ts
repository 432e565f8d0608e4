/** GET /healthz and /readyz, for supervisors and balancers: without a key, and without data. */
import type { FastifyInstance } from 'fastify';
import { SandhavenError } from '../../../model/errors.ts';

/** @param ready Returns true when calls can be answered; rejects with the reason when it is known. */
export function addHealthRoutes(app: FastifyInstance, ready: () => boolean | Promise<boolean>): void {
  const config = { open: true };
  app.get('/healthz', { config }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config }, async () => {
    if (await ready()) return { status: 'ready' };
    throw new SandhavenError('unavailable', 'The service is not ready yet.', {
      hint: 'Try again in a second.',
    });
  });
}
