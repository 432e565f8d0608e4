/**
 * Serves MCP over Streamable HTTP. Every request is served independently, in every protocol revision, so that
 * a client continues after a restart of the service.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CallToolResult,
  createMcpHandler,
  isInitializeRequest,
  type McpRequestContext,
  type Server,
} from '@modelcontextprotocol/server';
import { callTool } from '../../catalog/call.ts';
import { tools as allTools } from '../../catalog/index.ts';
import type { Tool } from '../../catalog/tool.ts';
import { selectTools } from '../../catalog/toolsets.ts';
import type { Log } from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import { type AnswerHold, collecting } from '../../fairness/answer-room.ts';
import { type ErrorCode, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import { SharedRoom } from '../shared-room.ts';
import { McpArrivals } from './arrivals.ts';
import { InFlightCalls } from './in-flight.ts';
import { LargeParts } from './large-parts.ts';
import { type ScopeCheck, scopeRefusal } from './scope-refusal.ts';
import { type CarryOut, createServer } from './server.ts';
import { sendWebResponse, signalOf, webRequest } from './web-exchange.ts';

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

/** Carried with a request through the SDK. */
interface Extra extends McpClient {
  large: LargeParts;
  hold: AnswerHold;
}

/** Exchanges of the 2025 revisions; the SDK tracks those of newer ones itself. */
interface OpenExchanges {
  servers: Set<Server>;
  calls: InFlightCalls;
}

const SESSION_HEADER = 'mcp-session-id';

export function createMcpEndpoint(parts: McpEndpointDependencies): McpEndpoint {
  const open: OpenExchanges = { servers: new Set(), calls: new InFlightCalls() };
  // Messages of such errors may quote the client's bytes, so only their names are logged.
  const onerror = (error: Error) => parts.log.warn('mcp request refused', { error: error.name });
  const handler = createMcpHandler((context) => createExchange(parts, open, context), {
    // A stream from the start: its comments keep a long call's connection alive while a plain response would
    // send nothing.
    responseMode: 'sse',
    maxSubscriptions: limits.shares.subscriptions.total,
    onerror,
  });
  const { room = new SharedRoom() } = parts;
  const arrivals = new McpArrivals(room.bodies);
  return {
    async handle(request, response, client) {
      const signal = signalOf(response);
      const large = new LargeParts();
      const hold = room.answers.hold(client.caller.id);
      response.once('close', () => hold.release());
      const web = await refusingBy(async () => {
        // Checked first, since a client shows the error of its very first request.
        toolsIn(webRequest(request, signal).url, []);
        const count = () => parts.services.identity.count(client.caller);
        const parsedBody = await arrivals.bodyOf(request, response, client.caller.id).catch((error) => {
          count();
          throw error;
        });
        // A call is counted when it is carried out, so that its refusal for the rate looks like any other.
        if (!hasCall(parsedBody)) count();
        const { caller, address, challenge = null } = client;
        const check = { caller, challenge, origin: { transport: 'mcp', address } } as const;
        const refusal = await scopeRefusal(parts.services, check, parsedBody);
        if (refusal) return refusal;
        // Invalid JSON gets the protocol's own answer.
        const unread = parsedBody === undefined && request.method === 'POST' ? { body: '{' } : {};
        const extra: Extra = { ...client, large, hold };
        const authInfo = { token: '', clientId: client.caller.id, scopes: [], extra: { ...extra } };
        const answer = await handler.fetch(webRequest(request, signal, unread.body), {
          authInfo,
          ...(parsedBody === undefined ? {} : { parsedBody }),
        });
        if (isInitializeRequest(parsedBody) && answer.ok) answer.headers.set(SESSION_HEADER, randomUUID());
        return answer;
      });
      await sendWebResponse(response, web, large, signal);
    },
    async close() {
      await Promise.all([handler.close(), ...[...open.servers].map((server) => server.close())]);
    },
  };
}

/** Returns the response, or the refusal for a thrown error. */
async function refusingBy(work: () => Promise<Response>): Promise<Response> {
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

/** Creates the server of one request. */
function createExchange(
  { services, log, version, tools = allTools }: McpEndpointDependencies,
  open: OpenExchanges,
  { era, authInfo, requestInfo }: McpRequestContext,
): Server {
  const extra = authInfo?.extra as unknown as Extra;
  const { caller, large } = extra;
  const seen = requestInfo ? toolsIn(requestInfo.url, tools) : tools;
  const parts = {
    version,
    tools: seen,
    carryOut: carryOutHere(services, log, extra),
    takeOut: (result: CallToolResult) => large.takeOut(result),
  };
  // Newer revisions cancel a call by ending its request, which aborts the call's own signal.
  if (era === 'modern') return createServer(parts);

  const sessionId = requestInfo?.headers.get(SESSION_HEADER) ?? '';
  const keyOf = (requestId: string | number) => ({ callerId: caller.id, sessionId, requestId });
  const server = createServer({
    ...parts,
    onCall({ mcpReq }) {
      if (sessionId === '') return () => {};
      // Closing the exchange aborts the call and ends its stream without an answer, as the protocol requires.
      return open.calls.add(keyOf(mcpReq.id), () => void server.close().catch(() => {}));
    },
  });
  server.setNotificationHandler('notifications/cancelled', ({ params }) => {
    if (sessionId !== '' && params.requestId !== undefined) open.calls.cancel(keyOf(params.requestId));
  });
  open.servers.add(server);
  server.onclose = () => open.servers.delete(server);
  return server;
}

function carryOutHere(services: Services, log: Log, { caller, address, hold }: Extra): CarryOut {
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
      if (problem.code === 'internal') log.error('mcp call failed', { request_id: requestId, error });
      logged(problem.code);
      return { problem };
    }
  };
}
