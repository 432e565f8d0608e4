/** A visitor of previews: finds the gateway at its address, and says the preview's name in Host. */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

export interface Visit {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer | Readable;
}

export interface Seen {
  status: number;
  statusMessage: string;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
  body: Buffer;
  text: string;
}

const agent = new Agent({ keepAlive: true });

/** Resolves when the headers of the answer are there. */
export function open(
  url: string,
  { method = 'GET', headers = {}, body }: Visit = {},
): Promise<IncomingMessage> {
  const { host, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, host: '127.0.0.1', port, method, path: pathname + search, headers: { host, ...headers } },
      resolve,
    );
    sent.once('error', reject);
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body);
    else body.pipe(sent);
  });
}

export async function visit(url: string, options: Visit = {}): Promise<Seen> {
  const answer = await open(url, options);
  const body = await buffer(answer);
  const { statusCode: status = 0, statusMessage = '', headers, trailers } = answer;
  return { status, statusMessage, headers, trailers, body, text: body.toString() };
}

/** Bytes of one's own on a connection of one's own. */
export function dial(url: string, bytes: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}

/** Everything that comes until the connection ends. */
export async function sayRaw(url: string, bytes: string): Promise<string> {
  const socket = dial(url, bytes);
  let said = '';
  socket.setEncoding('latin1').on('data', (text) => {
    said += text;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return said;
}
