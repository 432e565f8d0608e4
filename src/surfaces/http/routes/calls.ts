/** POST /v1/tools/{name} calls a tool, and POST /v1/admin/{name} carries out an administration action; GET lists them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { actionDescriptions, callAction, findAction } from '../../../administration/call.ts';
import type { Tool } from '../../../catalog/base/tool.ts';
import { callTool, findTool } from '../../../catalog/call.ts';
import { descriptions } from '../../../catalog/describe.ts';
import { tools as allTools } from '../../../catalog/index.ts';
import { selectTools, toolkitVersions } from '../../../catalog/toolsets.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { type AnswerRoom, collecting } from '../../../fairness/answer-room.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { originOf } from '../base/origin.ts';
import { explain } from '../base/problem.ts';
import {
  OutputBytes,
  type OutputOn,
  OutputTexts,
  type Reporting,
  streamCall,
  wantsEventStream,
} from './event-stream.ts';
import { clientSignal, sendJson } from './send.ts';

export interface ToolRoutesDependencies {
  services: Services;
  log: Log;
  /** Tools listed to clients that do not choose with `?toolsets=`. Every tool can be called. */
  tools?: readonly Tool[];
  answers: AnswerRoom;
}

export function addToolRoutes(
  app: FastifyInstance,
  { services, log, tools = allTools, answers }: ToolRoutesDependencies,
): void {
  const list = (chosen: readonly Tool[]) => ({
    tools: descriptions.filter(({ name }) => chosen.some((tool) => tool.name === name)),
    toolkits: toolkitVersions,
  });
  app.get<{ Querystring: { toolsets?: string | string[] } }>('/v1/tools', async (request) => {
    const { toolsets } = request.query;
    return list(toolsets === undefined ? tools : selectTools(String(toolsets), 'toolsets'));
  });

  app.post<{ Params: { name: string }; Querystring: { output?: string | string[] } }>(
    '/v1/tools/:name',
    { config: { sandboxTokens: true } },
    async (request, reply) => {
      const { name } = request.params;
      const idempotencyKey = idempotencyKeyOf(request);
      const outputOn = outputChosen(request.query.output);
      const signal = clientSignal(reply);
      const hold = answers.hold(request.caller.id);
      reply.raw.once('close', () => hold.release());
      const context = {
        caller: request.caller,
        services,
        requestId: request.id,
        origin: originOf(request),
        signal,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      };
      const call = (reporting: Reporting) => {
        request.tool = findTool(name).name;
        return collecting(hold, () => callTool(name, request.body, { ...context, ...reporting }));
      };
      if (!wantsEventStream(request))
        return sendJson(reply, await call({ progress: ignoreProgress }), signal);
      await streamCall(reply, call, outputOn, (error) => explain(error, request, log), signal);
      return reply;
    },
  );
}

export function addAdminRoutes(app: FastifyInstance, services: Services, answers: AnswerRoom): void {
  app.get('/v1/admin', async () => ({ actions: actionDescriptions }));

  app.post<{ Params: { name: string } }>(
    '/v1/admin/:name',
    { config: { brief: true, sandboxTokens: true } },
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

function ignoreProgress(): void {}

function outputChosen(output: string | string[] | undefined): OutputOn {
  if (output === undefined) return (raw) => new OutputTexts(raw);
  if (output === 'bytes') return (raw) => new OutputBytes(raw);
  throw invalidArgument('output', 'output must be bytes.', 'Leave it out for events with text.');
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length > 0 && key.length <= limits.idempotencyKeyChars) return key;
  throw invalidArgument(
    'Idempotency-Key',
    `Idempotency-Key must be 1 to ${limits.idempotencyKeyChars} characters.`,
    'Use a UUID.',
  );
}
