/** Answers by the SDK whatever is no plain call: the first messages of a client, lists, batches, notifications, faults. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CallToolResult,
  createMcpHandler,
  isInitializeRequest,
  type McpRequestContext,
  type Server,
} from '@modelcontextprotocol/server';
import type { Tool } from '../../catalog/base/tool.ts';
import type { Log } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { writePieces } from '../json/pieces.ts';
import type { LargeParts } from './large-parts.ts';
import type { CallKey, OpenExchanges } from './open-exchanges.ts';
import { type CarryOut, createServer } from './server.ts';

export interface SdkHandler {
  /** @param body Undefined for none, or for invalid JSON, which gets the protocol's own answer. */
  fetch(request: IncomingMessage, body: unknown, parts: ExchangeParts): Promise<Response>;
  close(): Promise<void>;
}

/** Carried with a request through the SDK. */
export interface ExchangeParts {
  from: Omit<CallKey, 'requestId'>;
  large: LargeParts;
  carryOut: CarryOut;
  /** Those of the client. */
  tools: readonly Tool[];
  /** Aborts when the client has left. */
  signal: AbortSignal;
}

interface HandlerDependencies {
  version: string;
  log: Log;
  open: OpenExchanges;
}

export function createSdkHandler({ version, log, open }: HandlerDependencies): SdkHandler {
  const handler = createMcpHandler((context) => createExchange(version, open, context), {
    // A stream from the start: its comments keep a long call's connection alive while a plain response would
    // send nothing.
    responseMode: 'sse',
    maxSubscriptions: limits.shares.subscriptions.total,
    // Messages of such errors may quote the client's bytes, so only their names are logged.
    onerror: (error) => log.warn('mcp request refused', { error: error.name }),
  });
  return {
    async fetch(request, body, parts) {
      const unread = body === undefined && request.method === 'POST' ? { body: '{' } : {};
      const authInfo = { token: '', clientId: parts.from.callerId, scopes: [], extra: { ...parts } };
      const answer = await handler.fetch(webRequest(request, parts.signal, unread.body), {
        authInfo,
        ...(body === undefined ? {} : { parsedBody: body }),
      });
      if (isInitializeRequest(body) && answer.ok) answer.headers.set('mcp-session-id', randomUUID());
      return answer;
    },
    close: () => handler.close(),
  };
}

/** Creates the server of one request. */
function createExchange(version: string, open: OpenExchanges, { era, authInfo }: McpRequestContext): Server {
  const { from, large, carryOut, tools }: ExchangeParts = Object(authInfo?.extra);
  const parts = { version, tools, carryOut, takeOut: (result: CallToolResult) => large.takeOut(result) };
  // Newer revisions cancel a call by ending its request, which aborts the call's own signal. The SDK ends them at its close.
  if (era === 'modern') return createServer(parts);

  // Closing the exchange aborts the call and ends its stream without an answer, as the protocol requires.
  const onCall: NonNullable<Parameters<typeof createServer>[0]['onCall']> = ({ mcpReq }) =>
    open.cancellable(server, { ...from, requestId: mcpReq.id });
  const server = createServer({ ...parts, onCall });
  server.setNotificationHandler('notifications/cancelled', ({ params }) => {
    if (params.requestId !== undefined) open.cancel({ ...from, requestId: params.requestId });
  });
  server.onclose = open.add(server, null);
  return server;
}

/** Converts between Node's requests and the Fetch API's, which the SDK uses. Bodies are read and bounded before. */
export function urlOf({ headers, url }: IncomingMessage): string {
  return `http://${headers.host ?? 'localhost'}${url ?? '/'}`;
}

/** Converts the request without its body. */
function webRequest(request: IncomingMessage, signal: AbortSignal, body?: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const item of [value ?? []].flat()) headers.append(name, item);
  }
  return new Request(urlOf(request), {
    method: request.method ?? 'GET',
    headers,
    signal,
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns a signal that aborts when the client goes away before it has its answer. */
export function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}

/** Writes as fast as the client reads. */
export async function sendWebResponse(
  response: ServerResponse,
  web: Response,
  large: LargeParts,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(web.status, Object.fromEntries(web.headers));
  const decoder = new TextDecoder();
  try {
    for await (const chunk of web.body ?? []) {
      await writePieces(response, large.isEmpty ? [chunk] : large.putBack(decoder.decode(chunk)), signal);
    }
    response.end();
  } catch {
    // The status is sent: only a broken connection can show the client an incomplete body.
    response.destroy();
  }
}
