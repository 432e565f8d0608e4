/** Passes each request of HTTP/1.1 to a replica, with bodies of any length, streams of events, and upgrades. */
import {
  Agent,
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import type { Choose, Serving } from './connections.ts';
import { join } from './join.ts';
import type { Replica } from './replicas.ts';

const SERVED_BY = 'x-served-by';

/** Of one hop only (RFC 9110, section 7.6.1); `upgrade` goes on where there is one. */
const OF_ONE_HOP = new Set(['connection', 'keep-alive', 'proxy-connection']);

export function serveRequests(choose: Choose): Serving {
  const upgraded = new Set<Duplex>();
  const server = createServer({ requestTimeout: 0, noDelay: true }, (request, response) => {
    pass(choose(nameOf(request)), request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.on('close', () => upgraded.delete(socket)).on('error', () => undefined);
    upgrade(choose(nameOf(request)), request, socket as Socket, head);
  });
  return {
    server,
    closeConnections() {
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
    },
  };
}

function pass(replica: Replica | null, request: IncomingMessage, response: ServerResponse): void {
  if (!replica) {
    answerError(response, 503, null);
    return;
  }
  const onward = send(replica, request, headersOf(request));
  onward.on('error', () => {
    if (response.headersSent) response.destroy();
    else answerError(response, 502, replica);
  });
  onward.on('response', (answer) => answerWith(answer, response, replica));
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}

/** The replica may also refuse the upgrade, by an answer as to any request. */
function upgrade(replica: Replica | null, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const refuse = (act: (response: ServerResponse) => void) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    act(response);
  };
  if (!replica) {
    refuse((response) => answerError(response, 503, null));
    return;
  }
  const connection = ['connection', 'upgrade'];
  const onward = send(replica, request, [...headersOf(request), ...connection]);
  onward.on('error', () => refuse((response) => answerError(response, 502, replica)));
  onward.on('response', (answer) => refuse((response) => answerWith(answer, response, replica)));
  onward.on('upgrade', (answer, other, otherHead) => {
    const headers = [...headersOf(answer), ...connection, SERVED_BY, replica.name];
    socket.write(`HTTP/1.1 101 ${answer.statusMessage}\r\n${lines(headers)}\r\n`);
    socket.write(otherHead);
    other.write(head);
    join(socket, other);
  });
  socket.on('close', () => onward.destroy());
  onward.end();
}

function send({ host, port }: Replica, { method, url }: IncomingMessage, headers: string[]): ClientRequest {
  const agent = new Agent({ keepAlive: false });
  return httpRequest({ host, port, agent, method, path: url, headers, setDefaultHeaders: false });
}

function answerWith(answer: IncomingMessage, response: ServerResponse, { name }: Replica): void {
  const headers = [...headersOf(answer), SERVED_BY, name];
  response.writeHead(answer.statusCode ?? 0, answer.statusMessage, headers);
  // The first event of a stream may come much later than its headers.
  response.flushHeaders();
  pipeline(answer, response, () => undefined);
}

function answerError(response: ServerResponse, status: number, replica: Replica | null): void {
  const headers = replica ? { [SERVED_BY]: replica.name } : {};
  response.writeHead(status, { ...headers, 'content-length': '0' }).end();
}

/** Names and values in turn, as they were written. */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, at) =>
    rawHeaders.slice(2 * at, 2 * at + 2),
  );
  return pairs.filter(([name = '']) => !OF_ONE_HOP.has(name.toLowerCase())).flat();
}

function lines(headers: string[]): string {
  return headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
}

function nameOf({ method, url }: IncomingMessage): string {
  return `${method} ${url}`;
}
