/** A route of this surface, and one request of a Daytona client as it sees it, with its ways to what every surface calls. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callAction } from '../../../administration/call.ts';
import type { CallContext } from '../../../catalog/base/tool.ts';
import { callTool, findTool } from '../../../catalog/call.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { type AnswerRoom, collecting } from '../../../fairness/answer-room.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { assertScope, type Scope } from '../../../model/scopes.ts';
import { originOf, subjectOf } from '../../http/base/origin.ts';
import type { Upgrades } from '../../http/base/upgrades.ts';
import { clientSignal } from '../../http/routes/send.ts';

type Result = Record<string, unknown>;

export interface DaytonaRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the root of its API, in fastify's form. */
  path: string;
  /** Of a success; 200 without it. */
  status?: number;
  /** Returns the body of the answer; undefined for none; also where it has sent the answer itself. */
  handler(call: DaytonaCall): Promise<unknown>;
}

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
  tool(
    name: string,
    parameters: Result,
    extra?: Pick<CallContext, 'live' | 'idempotencyKey' | 'sandboxId'>,
  ): Promise<Result>;
  /** Carries out an administration action in the same way. */
  action(name: string, parameters: Result): Promise<Result>;
}

export interface CallParts {
  services: Services;
  answers: AnswerRoom;
}

export interface DaytonaDependencies extends CallParts {
  log: Log;
  upgrades: Upgrades;
}

/** Header by which their clients send the token of a preview. */
export const PREVIEW_TOKEN_HEADER = 'x-daytona-preview-token';

/** Roots of the two APIs: control of sandboxes, and work inside one, whose id follows. */
export const CONTROL = '/daytona/api';
export const TOOLBOX = '/daytona/toolbox';

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

/** Does work of a service that no tool has, under its name in the audit log. */
export function audited<T>(
  { request, services, signal }: DaytonaCall,
  { action, scope }: { action: string; scope: Scope },
  work: () => Promise<T>,
): Promise<T> {
  return services.audit.call(subjectOf(request, action, signal), async () => {
    assertScope(request.caller, scope);
    return work();
  });
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
export function defined(parameters: Result): Result {
  return Object.fromEntries(
    Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null),
  );
}
