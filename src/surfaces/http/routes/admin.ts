/** POST /v1/admin/{name} carries out an administration action; GET /v1/admin lists them. */
import type { FastifyInstance } from 'fastify';
import { actionDescriptions, callAction, findAction } from '../../../administration/call.ts';
import type { Services } from '../../../control/services.ts';
import { originOf } from '../base/origin.ts';
import { clientSignal } from './send.ts';

export function addAdminRoutes(app: FastifyInstance, services: Services): void {
  app.get('/v1/admin', async () => ({ actions: actionDescriptions }));

  app.post<{ Params: { name: string } }>(
    '/v1/admin/:name',
    { config: { brief: true } },
    async (request, reply) => {
      const { name } = findAction(request.params.name);
      request.tool = name;
      return callAction(name, request.body, {
        caller: request.caller,
        services,
        requestId: request.id,
        origin: originOf(request),
        signal: clientSignal(reply),
      });
    },
  );
}
