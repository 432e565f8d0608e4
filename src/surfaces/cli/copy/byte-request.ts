/**
 * Requests to the byte routes. They go through Node's own client: a body of any size passes as a stream, and an answer
 * that comes before its end, such as a refusal, is read.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { getFileInfo } from '../../../catalog/files/listing.ts';
import { type Problem, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { createClient } from '../client.ts';
import { type Connection, headersOf, unreachable } from '../connection.ts';

export interface ByteRequest {
  method: 'GET' | 'PUT' | 'POST';
  /** With its query. */
  path: string;
  headers?: Record<string, string | number>;
}

/** Carries a problem of the service as an error, with all that it says. */
function errorOf({ code, detail, ...problem }: Problem): SandhavenError {
  const { hint, parameter, resource, retry_after_seconds } = problem;
  const fields = Object.entries({ hint, parameter, resource, retry_after_seconds });
  return new SandhavenError(
    code,
    detail,
    Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
  );
}

export function filesPath(sandbox: string, query: Record<string, string>): string {
  return `/v1/sandboxes/${encodeURIComponent(sandbox)}/files?${new URLSearchParams(query)}`;
}

/** The caller writes the body, and ends the request. */
export function openRequest(
  connection: Connection,
  { method, path, headers = {} }: ByteRequest,
  signal: AbortSignal,
): ClientRequest {
  const { url } = connection;
  const address = new URL(url + path);
  const outgoing = (address.protocol === 'https:' ? httpsRequest : httpRequest)(address, {
    method,
    signal,
    agent: false,
    headers: { ...headersOf(connection), ...headers },
  });
  // The service waits as long for a client.
  outgoing.setTimeout(limits.byteStreamIdleMs, () =>
    outgoing.destroy(new Error('no byte passed for too long')),
  );
  return outgoing;
}

/** Resolves with the answer, whatever its status. */
export function answerOf(outgoing: ClientRequest, { url }: Connection): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', (error) =>
      reject(error instanceof SandhavenError ? error : unreachable(url, error)),
    );
  });
}

/** Returns the result of an answer in JSON. Rejects with the problem that it holds. */
export async function jsonOf(answer: IncomingMessage, { url }: Connection): Promise<Record<string, unknown>> {
  const type = answer.headers['content-type'] ?? '';
  const bytes = Number(answer.headers['content-length'] ?? 0);
  const isJson = /^application\/(problem\+)?json/.test(type);
  if (!isJson || bytes > limits.tunnel.problemBytes) {
    answer.destroy();
    throw unreachable(url, new Error(`status ${answer.statusCode} with content of type ${type || 'none'}`));
  }
  const body = JSON.parse(await text(answer)) as Record<string, unknown>;
  if (answer.statusCode === 200) return body;
  throw errorOf(body as unknown as Problem);
}

/** Asks about a path in a sandbox; a link is what it is, not what it leads to. */
export interface RemoteInfo {
  type: string;
  /** Permissions alone, without the special bits. */
  mode: number;
}

/** Returns null where there is nothing. */
export async function remoteInfo(
  connection: Connection,
  { sandbox, path, user }: { sandbox: string; path: string; user: string | undefined },
  signal: AbortSignal,
): Promise<RemoteInfo | null> {
  const client = createClient(connection);
  const { result, problem } = await client(getFileInfo, { sandbox, path, user }, { signal });
  if (!problem) {
    return { type: String(result['type']), mode: Number.parseInt(String(result['mode']), 8) & 0o777 };
  }
  if (problem.code === 'not_found' && problem.resource !== 'sandbox') return null;
  throw errorOf(problem);
}
