/** Opens one connection to a port inside a sandbox, over the service's API. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Problem, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type Connection, headersOf, unreachable } from './connection.ts';

export interface TunnelTarget {
  sandbox: string;
  port: number;
}

export type TunnelOutcome =
  /** Half-open connections stay half-open; `early` holds the first bytes after the response. */
  | { connection: Socket; early: Buffer; problem?: never }
  | { problem: Problem; connection?: never; early?: never };

/** Rejects only on abort: an unreachable service is a problem like any other. */
export function openTunnel(
  connection: Connection,
  { sandbox, port }: TunnelTarget,
  signal: AbortSignal,
): Promise<TunnelOutcome> {
  const { url } = connection;
  const address = new URL(`${url}/v1/sandboxes/${encodeURIComponent(sandbox)}/tunnel?port=${port}`);
  const secure = address.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(address, {
      headers: { ...headersOf(connection), connection: 'Upgrade', upgrade: 'tcp' },
      createConnection: () => dial(address, secure),
    });
    const cancel = () => outgoing.destroy(new Error('The call was cancelled.'));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    outgoing.once('upgrade', (_answer, socket, early) => {
      // The caller owns the connection after this.
      signal.removeEventListener('abort', cancel);
      resolve({ connection: socket as Socket, early });
    });
    outgoing.once('response', (answer) => {
      problemOf(answer).then((problem) => resolve({ problem }), fail);
    });
    const fail = (error: unknown) => {
      if (signal.aborted) reject(error);
      else resolve({ problem: toProblem(unreachable(url, error), newRequestId()) });
    };
    outgoing.on('error', fail);
    outgoing.end();
  });
}

function dial({ hostname, port }: URL, secure: boolean): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: Number(port || (secure ? 443 : 80)), allowHalfOpen: true });
  if (!secure) return socket;
  // SNI takes no IP address; the certificate is still checked against it.
  return connectTls({ socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
}

/** Reads a refusal; rejects for what is no problem of the service. */
export async function problemOf(answer: IncomingMessage): Promise<Problem> {
  const type = answer.headers['content-type'] ?? '';
  const explained = type.startsWith('text/plain');
  if (!explained && !type.startsWith('application/problem+json')) {
    answer.destroy();
    throw new Error(`status ${answer.statusCode} with content of type ${type || 'none'}`);
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > limits.tunnel.problemBytes) throw new Error('the problem document is too large');
    parts.push(part);
  }
  const said = Buffer.concat(parts).toString();
  // For example from a port that speaks TLS.
  if (explained) throw new Error(said.split('\n', 1)[0]);
  return JSON.parse(said) as Problem;
}
