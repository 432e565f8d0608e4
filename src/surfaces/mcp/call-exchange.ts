/**
 * The exchange of one plain call: an event stream with the call's progress and its result, which is made into bytes once. A
 * client that goes away ends it, as a cancellation does.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { Tool } from '../../catalog/base/tool.ts';
import { toolNamed } from '../../catalog/call.ts';
import { limits } from '../../model/limits.ts';
import { isLargeJson, jsonPieces, writePieces } from '../json/pieces.ts';
import { createProgressReporter } from './progress.ts';
import { toCallToolResult } from './result.ts';
import { type CarryOut, serverInfo } from './server.ts';

/** As the SDK sends them. */
const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};

export class CallExchange {
  readonly #call: PlainCall;
  readonly #response: ServerResponse;
  /** Aborted when the client has left, or the exchange is closed. */
  readonly #end = new AbortController();

  constructor(call: PlainCall, response: ServerResponse) {
    this.#call = call;
    this.#response = response;
  }

  /** Resolves when the answer is sent, or never will be. */
  async run(carryOut: CarryOut, version: string, clientLeft: AbortSignal): Promise<void> {
    if (clientLeft.aborted) this.#end.abort();
    clientLeft.addEventListener('abort', () => this.#end.abort(), { once: true });
    const { tool, parameters, progressToken } = this.#call;
    const progress = createProgressReporter(progressToken, (notification) => {
      this.#write(event({ jsonrpc: '2.0', ...notification }));
    });
    // Keeps the connection of a silent call alive, for clients that asked for no progress too.
    const keepAlive = setInterval(() => this.#write(': keepalive\n\n'), limits.mcpKeepAliveMs);
    const { signal } = this.#end;
    const { report, live } = progress;
    // Nothing may come between the pieces of the answer.
    const outcome = await carryOut(tool, parameters, { signal, progress: report, live }).finally(() => {
      progress.end();
      clearInterval(keepAlive);
    });
    if (!this.#isOver) await this.#answer(toCallToolResult(tool, outcome), version);
  }

  /** Aborts the call and ends the stream without an answer, as the protocol requires of a cancellation. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#end.abort();
    this.#begin();
    this.#response.end();
  }

  async #answer(given: CallToolResult, version: string): Promise<void> {
    const { structuredContent, content, isError } = given;
    const shared = { content, structuredContent, ...(isError ? { isError } : {}) };
    const result =
      this.#call.era === 'legacy'
        ? shared
        : { ...shared, resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: serverInfo(version) } };
    const message = { result, jsonrpc: '2.0', id: this.#call.id };
    this.#begin();
    if (!isLargeJson(message)) {
      this.#response.end(event(message));
      return;
    }
    try {
      await writePieces(this.#response, eventPieces(message), this.#end.signal);
      this.#response.end();
    } catch {
      // The status is sent: only a broken connection can show the client an incomplete body.
      this.#response.destroy();
    }
  }

  get #isOver(): boolean {
    return this.#end.signal.aborted || this.#response.destroyed || this.#response.writableEnded;
  }

  #begin(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, STREAM_HEADERS);
  }

  #write(text: string): void {
    if (this.#isOver) return;
    this.#begin();
    this.#response.write(text);
  }
}

function event(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function* eventPieces(message: object): Generator<string> {
  yield 'event: message\ndata: ';
  yield* jsonPieces(message);
  yield '\n\n';
}

/**
 * Recognizes the plain call of a tool: one well-formed request for what this service has. Such a call needs no server
 * and no stream of the SDK's. Everything else, faulty messages above all, is for the SDK to answer.
 */
interface PlainCall {
  id: string | number;
  tool: Tool;
  parameters: Record<string, unknown>;
  /** Undefined for a client that wants no progress. */
  progressToken: string | number | undefined;
  /** `legacy` are the revisions before 2026-07-28. */
  era: 'legacy' | 'modern';
}

const METHOD = 'tools/call';
const MODERN = '2026-07-28';
const PARAMS = new Set(['name', 'arguments', '_meta']);
/** Names in `_meta` that belong to the protocol, and those of them that the SDK's classification has checked. */
const PROTOCOL_PREFIX = 'io.modelcontextprotocol/';
const ENVELOPE = new Set([PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY]);

/**
 * @param tools Those of the client.
 * @returns null for every message that is not plain.
 */
export function plainCallOf(
  headers: IncomingHttpHeaders,
  body: unknown,
  tools: readonly Tool[],
): PlainCall | null {
  if (!isObject(body) || body['method'] !== METHOD || !acceptsAnswer(headers)) return null;
  const { params } = body;
  if (!isObject(params) || !Object.keys(params).every((name) => PARAMS.has(name))) return null;
  const { name, arguments: parameters = {}, _meta: meta = {} } = params;
  const tool = typeof name === 'string' ? toolNamed(name) : null;
  if (!tool || !tools.includes(tool) || !isObject(meta) || !isObject(parameters)) return null;
  // The SDK drops a parameter of this name, and no other.
  if (Object.hasOwn(parameters, '__proto__')) return null;
  const { progressToken } = meta;
  if (!(progressToken === undefined || isId(progressToken))) return null;
  const era = eraOf(headers, body, meta, name);
  const { id } = body;
  return era && isId(id) ? { id, tool, parameters, progressToken, era } : null;
}

function acceptsAnswer({ accept, 'content-type': type }: IncomingHttpHeaders): boolean {
  const both = accept?.includes('application/json') && accept.includes('text/event-stream');
  return both === true && isJsonContentType(type);
}

/** Returns null where headers and message disagree, or either is not plain. */
function eraOf(
  headers: IncomingHttpHeaders,
  body: unknown,
  meta: Record<string, unknown>,
  name: unknown,
): PlainCall['era'] | null {
  const protocolVersionHeader = one(headers['mcp-protocol-version']);
  const mcpMethodHeader = one(headers['mcp-method']);
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(protocolVersionHeader === undefined ? {} : { protocolVersionHeader }),
    ...(mcpMethodHeader === undefined ? {} : { mcpMethodHeader }),
  });
  const own = Object.keys(meta).filter((key) => key.startsWith(PROTOCOL_PREFIX));
  if (route.kind === 'legacy') {
    const isKnown =
      protocolVersionHeader === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersionHeader);
    return isKnown && own.length === 0 ? 'legacy' : null;
  }
  const isPlain =
    route.kind === 'modern' &&
    protocolVersionHeader === MODERN &&
    mcpMethodHeader === METHOD &&
    headers['mcp-name'] === name &&
    own.every((key) => ENVELOPE.has(key));
  return isPlain ? 'modern' : null;
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
