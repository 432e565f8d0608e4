/**
 * Streams one request to an application and its response back: nothing is buffered, each side waits only for
 * the slower one, and either side leaving ends the other.
 */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { gatherPieces } from '../../fairness/body-pieces.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Arrival } from '../../model/network/arrival.ts';
import { hasBody, toApplication, toVisitor } from './headers.ts';
import { Refusal } from './refusal.ts';
import type { Target, Upstreams } from './upstreams.ts';

export interface Visit {
  request: IncomingMessage;
  response: ServerResponse;
  arrival: Arrival;
  target: Target;
  signed: boolean;
  /** Headers that carry a visitor's token. */
  tokenHeaders: readonly string[];
  /** Upgrade that the application is asked for; null for a plain request. */
  upgrade: { protocol: string; head: Buffer } | null;
}

/** The application closed a kept connection before it can have seen the request. */
class Stale extends Error {}

/** Requests that may be sent twice. */
const REPEATABLE = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/**
 * Resolves when the exchange is over, in any way. Rejects with the error for the visitor when the application
 * gave no response.
 */
export async function forward(visit: Visit, upstreams: Upstreams): Promise<void> {
  const { request, response, target } = visit;
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('The visitor left.'));
  });
  const repeatable = REPEATABLE.includes(request.method ?? '') && !hasBody(request) && !visit.upgrade;
  const waiting = repeatable ? upstreams.take(target) : null;
  if (waiting) {
    try {
      return await attempt(visit, waiting, true, upstreams);
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
    }
  }
  const socket = await upstreams.open(target, gone.signal);
  return attempt(visit, socket, false, upstreams);
}

function attempt(visit: Visit, socket: Duplex, reused: boolean, upstreams: Upstreams): Promise<void> {
  const { request, response, arrival, target, upgrade, tokenHeaders } = visit;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      createConnection: () => socket,
      method: request.method,
      path: request.url,
      headers: toApplication(request, arrival, upgrade?.protocol ?? null, tokenHeaders),
      maxHeaderSize: limits.preview.answerHeaderBytes,
      insecureHTTPParser: false,
    });
    // Without an agent the client would close the connection; the application decides, by its response.
    outgoing.shouldKeepAlive = upgrade === null;
    const over = () => {
      if (!response.writableFinished) outgoing.destroy();
      resolve();
    };
    response.once('close', over);
    let answer: IncomingMessage | null = null;
    const fail = (error: Error) => {
      response.off('close', over);
      outgoing.destroy();
      reject(error);
    };
    outgoing.once('response', (came) => {
      answer = came;
      gatherPieces(came);
      try {
        passOn(visit, outgoing, came);
      } catch (error) {
        // The response's headers are invalid and cannot be sent on.
        fail(failureOf(error));
      }
    });
    outgoing.once('upgrade', (came, upstream, head) => {
      answer = came;
      if (upgrade) {
        switchOver(visit, upgrade.head, { answer: came, socket: upstream, head });
      } else {
        upstream.destroy();
        fail(failureOf(new Error('an upgrade that nobody asked for')));
      }
    });
    outgoing.once('continue', () => response.writeContinue());
    outgoing.on('error', (error) => {
      if (!answer) fail(reused ? new Stale() : failureOf(error));
      else if (!answer.complete) response.destroy();
    });
    keepAfterwards(outgoing, socket, () => upstreams.keep(target, socket));
    if (hasBody(request)) request.pipe(outgoing);
    else outgoing.end();
  });
}

/**
 * The client emits `free` for a connection that may be used again; every other connection is finished. A
 * connection that ends before the client has attached its own listeners is reported to the client here.
 */
function keepAfterwards(outgoing: ClientRequest, socket: Duplex, keep: () => void): void {
  let free = false;
  const freed = () => {
    free = true;
    keep();
  };
  const lost = () => outgoing.destroy(socket.errored ?? new Error('The connection ended.'));
  socket.once('free', freed);
  socket.once('close', lost);
  // The upgraded connection owns the socket after this event.
  outgoing.once('upgrade', () => {
    free = true;
  });
  outgoing.once('close', () =>
    queueMicrotask(() => {
      socket.off('free', freed);
      socket.off('close', lost);
      if (!free) socket.destroy();
    }),
  );
}

function passOn(
  { request, response, signed }: Visit,
  outgoing: ClientRequest,
  answer: IncomingMessage,
): void {
  const headers = toVisitor(answer, signed);
  // A visitor without a `100 Continue` may send its body or skip it, so its next request cannot be distinguished
  // from a body.
  if (request.headers.expect !== undefined && !request.complete) headers.push('Connection', 'close');
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', headers);
  let begun = false;
  answer.once('data', () => {
    begun = true;
  });
  // A slow body, such as an event stream, must not delay the headers.
  setImmediate(() => {
    if (!begun && !response.writableEnded && !response.destroyed) response.flushHeaders();
  });
  answer.once('end', () => {
    if (answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
  });
  answer.once('error', () => response.destroy());
  response.once('close', () => outgoing.destroyed || answer.complete || outgoing.destroy());
  answer.pipe(response);
}

function pairs(raw: string[]): [string, string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as [string, string]] : []));
}

/** Passes on errors of the sandbox's agent; all others are the application's fault. */
function failureOf(error: unknown): Error {
  if (error instanceof SandhavenError && error.code !== 'failed_precondition') return error;
  return new Refusal(
    502,
    'The server on this port inside the sandbox does not answer with HTTP, or closed the connection before it answered.\n' +
      'Look at the output of the server that runs there.',
    { cause: error },
  );
}

interface Visitor {
  request: IncomingMessage;
  response: ServerResponse;
  /** The preview's URL carries its token. */
  signed: boolean;
}

interface Upgraded {
  answer: IncomingMessage;
  socket: Duplex;
  /** First bytes after the application's response. */
  head: Buffer;
}

/**
 * Joins both connections after an upgrade, to WebSocket mostly: bytes both ways until either side leaves.
 * @param early First bytes after the visitor's request.
 */
function switchOver(
  { request, response, signed }: Visitor,
  early: Buffer,
  { answer, socket: upstream, head }: Upgraded,
): void {
  const visitor = request.socket;
  const headers = toVisitor(answer, signed);
  headers.push('Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? '');
  const lines = [`HTTP/1.1 101 ${answer.statusMessage ?? ''}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  visitor.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (head.length > 0) visitor.write(head);
  if (early.length > 0) upstream.write(early);
  upstream.once('error', () => visitor.destroy());
  upstream.once('close', () => visitor.destroySoon());
  visitor.once('close', () => {
    upstream.destroy();
    response.destroy();
  });
  upstream.pipe(visitor);
  visitor.pipe(upstream);
}
