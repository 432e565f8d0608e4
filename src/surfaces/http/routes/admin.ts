/** POST /v1/admin/{name} carries out an administration action; GET /v1/admin lists them. */
import type { FastifyInstance } from 'fastify';
import { actionDescriptions, callAction, findAction } from '../../../administration/call.ts';
import type { Services } from '../../../control/services.ts';
import { type AnswerRoom, collecting } from '../../../fairness/answer-room.ts';
import { originOf } from '../base/origin.ts';
import { clientSignal, sendJson } from './send.ts';

export function addAdminRoutes(app: FastifyInstance, services: Services, answers: AnswerRoom): void {
  app.get('/v1/admin', async () => ({ actions: actionDescriptions }));

  app.post<{ Params: { name: string } }>(
    '/v1/admin/:name',
    { config: { brief: true } },
    async (request, reply) => {
      const { name } = findAction(request.params.name);
      request.tool = name;
      const signal = clientSignal(reply);
      const hold = answers.hold(request.caller.id);
      reply.raw.once('close', () => hold.release());
      const { caller, id: requestId } = request;
      const context = { caller, services, requestId, origin: originOf(request), signal };
      return sendJson(reply, await collecting(hold, () => callAction(name, request.body, context)), signal);
    },
  );
}
