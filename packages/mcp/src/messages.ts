/** Messages of JSON-RPC: what one is, and the headers by which it travels over HTTP. */

export type Id = string | number;

export interface Message {
  id: Id | null;
  method: string | null;
  params: Record<string, unknown>;
  /** Revision that a request names itself, as those of 2026 do; null for others. */
  revision: string | null;
}

const REVISION = 'io.modelcontextprotocol/protocolVersion';

/** Returns null for what is no single message. */
export function messageOf(value: unknown): Message | null {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return null;
  const { id, method, params } = value;
  const isAnswer = method === undefined && (value['result'] !== undefined || value['error'] !== undefined);
  if (!isAnswer && typeof method !== 'string') return null;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return null;
  const given = isObject(params) ? params : {};
  const meta = given['_meta'];
  const revision = isObject(meta) ? meta[REVISION] : undefined;
  return {
    id: id ?? null,
    method: typeof method === 'string' ? method : null,
    params: given,
    revision: typeof revision === 'string' ? revision : null,
  };
}

/** The parameter that the header Mcp-Name repeats, by method. */
const named: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/**
 * Returns the headers that repeat a part of the message, for revisions that ask for it.
 *
 * Source: the Streamable HTTP transport of the MCP specification, revision 2026-07-28.
 */
export function headersOf({ id, method, params, revision }: Message): Record<string, string> {
  if (id === null || method === null || revision === null) return {};
  const parameter = Object.hasOwn(named, method) ? params[named[method] ?? ''] : undefined;
  return {
    'mcp-protocol-version': headerValue(revision),
    'mcp-method': headerValue(method),
    ...(typeof parameter === 'string' ? { 'mcp-name': headerValue(parameter) } : {}),
  };
}

/** Encodes what no header can carry, and what looks encoded. */
function headerValue(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/i.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
