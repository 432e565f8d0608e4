/**
 * Serves MCP over Streamable HTTP. Every request is served independently, in every protocol revision, so that
 * a client continues after a restart of the service. Plain calls of tools are answered here, all else by the SDK.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tool } from '../../catalog/base/tool.ts';
import { callTool, scopeOf, toolNamed } from '../../catalog/call.ts';
import { tools as allTools } from '../../catalog/index.ts';
import { selectTools } from '../../catalog/toolsets.ts';
import type { Origin } from '../../control/audit/audit.ts';
import type { Log } from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import { type AnswerHold, collecting } from '../../fairness/answer-room.ts';
import { type ErrorCode, isDefect, SandhavenError, toProblem } from '../../model/errors.ts';
import { isGrantId, newRequestId } from '../../model/ids.ts';
import { hasScope, isKeptBack, type Scope, scopes } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';
import { SharedRoom } from '../json/bodies.ts';
import { McpArrivals } from './arrivals.ts';
import { CallExchange, plainCallOf } from './call-exchange.ts';
import { LargeParts } from './large-parts.ts';
import { OpenExchanges } from './open-exchanges.ts';
import { createSdkHandler, sendWebResponse, signalOf, urlOf } from './sdk-handler.ts';
import type { CarryOut } from './server.ts';

export interface McpEndpointDependencies {
  services: Services;
  log: Log;
  version: string;
  /** Tools listed to clients that do not choose with `?toolsets=`. */
  tools?: readonly Tool[];
  /** Shared with HTTP's other routes. */
  room?: SharedRoom;
}

/** Caller and address of a request. */
export interface McpClient {
  caller: Caller;
  /** Null when unknown. */
  address: string | null;
  challenge?: ScopeCheck['challenge'];
}

export interface McpEndpoint {
  /** Serves one request of an authenticated caller, body included: its stream must not have been read. */
  handle(request: IncomingMessage, response: ServerResponse, client: McpClient): Promise<void>;
  /** Ends open exchanges; serves nothing afterwards. */
  close(): Promise<void>;
}

const SESSION_HEADER = 'mcp-session-id';

export function createMcpEndpoint(parts: McpEndpointDependencies): McpEndpoint {
  const { services, log, version, room = new SharedRoom(), tools = allTools } = parts;
  const open = new OpenExchanges();
  const sdk = createSdkHandler({ version, log, open });
  const arrivals = new McpArrivals(room.bodies);
  return {
    async handle(request, response, client) {
      const signal = signalOf(response);
      const large = new LargeParts();
      const hold = room.answers.hold(client.caller.id);
      response.once('close', () => hold.release());
      const answer = await refusingBy(async () => {
        // Checked first, since a client shows the error of its very first request.
        const seen = toolsIn(urlOf(request), tools);
        const count = () => services.identity.count(client.caller);
        const body = await arrivals.bodyOf(request, response, client.caller.id).catch((error) => {
          count();
          throw error;
        });
        // A call is counted when it is carried out, so that its refusal for the rate looks like any other.
        if (!hasCall(body)) count();
        const { caller, address, challenge = null } = client;
        const check = { caller, challenge, origin: { transport: 'mcp', address } } as const;
        const refusal = await scopeRefusal(services, check, body);
        if (refusal) return refusal;
        const carryOut = carryOutHere(services, log, { caller, address, hold });
        const sessionId = String(request.headers[SESSION_HEADER] ?? '');
        const from = { callerId: caller.id, sessionId };
        const call = plainCallOf(request.headers, body, seen);
        if (!call || open.closed)
          return sdk.fetch(request, body, { from, large, carryOut, tools: seen, signal });
        const exchange = new CallExchange(call, response);
        const ended = open.add(exchange, call.era === 'legacy' ? { ...from, requestId: call.id } : null);
        return () => exchange.run(carryOut, version, signal).finally(ended);
      });
      if (answer instanceof Response) await sendWebResponse(response, answer, large, signal);
      else await answer();
    },
    async close() {
      await Promise.all([sdk.close(), open.close()]);
    },
  };
}

/** Returns what the work does, or the refusal for a thrown error. */
async function refusingBy<T>(work: () => Promise<T>): Promise<T | Response> {
  try {
    return await work();
  } catch (error) {
    const problem = toProblem(error, newRequestId());
    const { status, retry_after_seconds: wait } = problem;
    const type = { 'content-type': 'application/problem+json' };
    const headers = wait === undefined ? type : { ...type, 'retry-after': String(wait) };
    return Response.json(problem, { status, headers });
  }
}

/** Checks one message, or a batch. */
function hasCall(body: unknown): boolean {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.some((message) => (message as { method?: unknown } | null)?.method === 'tools/call');
}

function toolsIn(url: string, otherwise: readonly Tool[]): readonly Tool[] {
  const chosen = new URL(url).searchParams.get('toolsets');
  return chosen === null ? otherwise : selectTools(chosen, 'toolsets');
}

/** Carries out calls of one client in this process, counts them and logs them. */
interface CallOrigin {
  caller: Caller;
  /** Null when unknown. */
  address: string | null;
  /** Takes the room of results. */
  hold: AnswerHold;
}

export function carryOutHere(services: Services, log: Log, { caller, address, hold }: CallOrigin): CarryOut {
  const origin = { transport: 'mcp', address } as const;
  return async (tool, parameters, { signal, progress, live }) => {
    const requestId = newRequestId();
    const begun = performance.now();
    const logged = (code: ErrorCode | null) => {
      const ms = Math.round((performance.now() - begun) * 10) / 10;
      const ended = { ...(code ? { code } : {}), ...(signal.aborted ? { aborted: true } : {}), ms };
      log.info('mcp call', { tool: tool.name, ...ended, request_id: requestId, user: caller.id });
    };
    try {
      services.identity.count(caller);
      const context = { caller, services, requestId, origin, signal, progress, live };
      const result = await collecting(hold, () => callTool(tool.name, parameters, context));
      logged(null);
      return { result };
    } catch (error) {
      const problem = toProblem(error, requestId);
      if (isDefect(error, signal.aborted)) log.error('mcp call failed', { request_id: requestId, error });
      logged(problem.code);
      return { problem };
    }
  };
}

// Refuses calls that an application's grant does not cover by HTTP's own status, from which a client learns to ask the
// person for more.
//
// Source: the authorization chapter of the MCP specification, on insufficient scope.

export interface ScopeCheck {
  caller: Caller;
  origin: Origin;
  /** Returns the header WWW-Authenticate that asks for these scopes; null where nobody is authorized by OAuth. */
  challenge: ((needed: readonly Scope[]) => string) | null;
}

/**
 * Returns null where every call is within its scopes, and for keys, whose calls carry their refusals themselves. A refusal
 * counts as a call, and rejects with `resource_exhausted` above the rate: each leaves a row in the audit log.
 */
export async function scopeRefusal(
  { audit, identity }: Pick<Services, 'audit' | 'identity'>,
  { caller, origin, challenge }: ScopeCheck,
  body: unknown,
): Promise<Response | null> {
  if (challenge === null || !isGrantId(caller.keyId)) return null;
  for (const { name, scope } of callsIn(body)) {
    // More consent would not help a viewer: the tool itself refuses, and names the reason.
    if (hasScope(caller, scope) || isKeptBack(caller, scope)) continue;
    identity.count(caller);
    const requestId = newRequestId();
    const refusal = async () => {
      throw lacking(scope);
    };
    const error = await audit
      .call({ action: name, caller, origin, requestId }, refusal)
      .catch((reason) => reason);
    const needed = scopes.filter((one) => one === scope || caller.scopes?.includes(one));
    return Response.json(toProblem(error, requestId), {
      status: 403,
      headers: { 'content-type': 'application/problem+json', 'www-authenticate': challenge(needed) },
    });
  }
  return null;
}

/** Calls of one message, or of a batch; unknown tools are for others to refuse. */
function callsIn(body: unknown): { name: string; scope: Scope }[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
    if (method !== 'tools/call' || typeof params?.name !== 'string') return [];
    const tool = toolNamed(params.name);
    return tool === null ? [] : [{ name: tool.name, scope: scopeOf(tool) }];
  });
}

function lacking(scope: Scope): SandhavenError {
  return new SandhavenError('permission_denied', `The application was not allowed the scope ${scope}.`, {
    hint: 'Let the application ask for it: its owner decides on the page of this service.',
  });
}
