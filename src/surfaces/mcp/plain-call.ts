/**
 * Recognizes the plain call of a tool: one well-formed request for what this service has. Such a call needs no server and no
 * stream of the SDK's. Everything else, faulty messages above all, is for the SDK to answer.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { toolNamed } from '../../catalog/call.ts';
import type { Tool } from '../../catalog/tool.ts';

export interface PlainCall {
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
