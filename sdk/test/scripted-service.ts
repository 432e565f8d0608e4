/** A service that answers as a test has scripted it, one answer a request, and remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export class ScriptedService {
  readonly asked: Asked[] = [];
  readonly #answers: Answer[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** In order; a request too many is answered with status 500 and no problem. */
  answers(...answers: Answer[]): void {
    this.#answers.push(...answers);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const body = await text(request).catch(() => '');
    this.asked.push({ method, path: url, headers, body });
    const answer = this.#answers.shift() ?? ((late) => late.writeHead(500).end('nothing is scripted'));
    answer(response, request);
  }
}

export function result(body: object): Answer {
  return (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function problem(code: string, status: number, more: object = {}): Answer {
  const body = { type: 'about:blank', title: code, status, code, detail: `It is ${code}.`, ...more };
  return (response) =>
    response
      .writeHead(status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ retryable: false, request_id: 'req_1', ...body }));
}

export const unavailable = problem('unavailable', 503, { retryable: true });

/** The connection breaks without an answer. */
export const broken: Answer = (response) => void response.destroy();

/** Never answers; `left` is told when the client has gone. */
export function silent(left: () => void = () => {}): Answer {
  return (response) => void response.once('close', left);
}

/** Pieces of a stream of events, each sent by itself. */
export function events(...pieces: string[]): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    response.end();
  };
}
