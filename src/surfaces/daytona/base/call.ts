/** One request of a Daytona client, as routes of this surface see it, and its ways to what every surface calls. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callAction } from '../../../administration/call.ts';
import type { CallContext } from '../../../catalog/base/tool.ts';
import { callTool, findTool } from '../../../catalog/call.ts';
import type { Services } from '../../../control/services.ts';
import { type AnswerRoom, collecting } from '../../../fairness/answer-room.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { originOf } from '../../http/base/origin.ts';
import { clientSignal } from '../../http/routes/send.ts';

type Result = Record<string, unknown>;

export interface DaytonaCall {
  request: FastifyRequest;
  reply: FastifyReply;
  services: Services;
  /** Aborted when the client leaves before it has its answer. */
  signal: AbortSignal;
  params: Record<string, string>;
  /** Of several values of one name, the last. */
  query: Record<string, string | undefined>;
  /** Empty where there is none. */
  body: Result;
  /** Origin of this service for its clients. */
  origin: string;
  /** Calls a tool, such as `Sandbox.GetSandbox`, with its checks, its audit and its bounds. */
  tool(name: string, parameters: Result, extra?: Pick<CallContext, 'live'>): Promise<Result>;
  /** Carries out an administration action in the same way. */
  action(name: string, parameters: Result): Promise<Result>;
}

export interface CallParts {
  services: Services;
  answers: AnswerRoom;
}

export function toCall(
  request: FastifyRequest,
  reply: FastifyReply,
  { services, answers }: CallParts,
): DaytonaCall {
  const signal = clientSignal(reply);
  const hold = answers.hold(request.caller.id);
  reply.raw.once('close', () => hold.release());
  const context = {
    caller: request.caller,
    services,
    requestId: request.id,
    origin: originOf(request),
    signal,
    progress() {},
  };
  return {
    ...{ request, reply, services, signal, origin: originFor(request) },
    params: request.params as Record<string, string>,
    query: lastValues(request.query as Record<string, string | string[]>),
    get body() {
      return bodyOf(request);
    },
    tool: (name, parameters, extra = {}) => {
      request.tool = findTool(name).name;
      return collecting(hold, () => callTool(name, defined(parameters), { ...context, ...extra }));
    },
    action: (name, parameters) => callAction(name, defined(parameters), context),
  };
}

/** The checked Host of the request, where the operator has named no public address. */
function originFor(request: FastifyRequest): string {
  return request.publicOrigin ?? `${request.protocol}://${request.headers.host}`;
}

function lastValues(query: Record<string, string | string[]>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]),
  );
}

function bodyOf({ body }: FastifyRequest): Result {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && !Array.isArray(body)) return body as Result;
  throw invalidArgument('body', 'The body must be a JSON object.');
}

/** Clients send null for what they leave open. */
function defined(parameters: Result): Result {
  return Object.fromEntries(
    Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null),
  );
}
