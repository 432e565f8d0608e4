/** A client that finds a server on loopback and asks it for a name, by TLS, believing one certificate. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';

export interface Secure {
  port: number;
  /** What is in the URL; by default 127.0.0.1. */
  host?: string;
  ca: string;
}

export interface Question {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | Readable;
  agent?: Agent;
}

/** Resolves when the headers of the answer are there. */
export function openSecure(
  { port, host = '127.0.0.1', ca }: Secure,
  path: string,
  question: Question = {},
): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body, agent = new Agent({ keepAlive: false }) } = question;
  return new Promise((resolve, reject) => {
    const named = host === '127.0.0.1' ? {} : { servername: host };
    const sent = request(
      { agent, host: '127.0.0.1', port, ca, ...named, method, path, headers: { host, ...headers } },
      resolve,
    );
    sent.once('error', reject);
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body);
    else body.pipe(sent);
  });
}

export async function askSecure(
  secure: Secure,
  path: string,
  question: Question = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const answer = await openSecure(secure, path, question);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await textOf(answer) };
}

/** Bytes of one's own; either direction may end first. Resolves with what came first. */
export function dialSecure(
  { port, host = '127.0.0.1', ca }: Secure,
  bytes: string,
): Promise<{ socket: TLSSocket; first: string }> {
  const transport = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  const named = host === '127.0.0.1' ? {} : { servername: host };
  const socket = connect({ socket: transport, ca, host, ...named });
  socket.write(bytes);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (data) => resolve({ socket, first: String(data) }));
  });
}

/** What comes from now on until the other side has said everything; how it ended. */
export function rest(stream: Duplex): Promise<{ text: string; error: string | null }> {
  let text = '';
  let error: string | null = null;
  stream.removeAllListeners('error');
  stream.on('data', (data) => {
    text += data;
  });
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    error = code ?? message;
  });
  return new Promise((resolve) => stream.once('close', () => resolve({ text, error })));
}
