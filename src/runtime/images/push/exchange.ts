/** One HTTP exchange with a registry: an optional body from memory or a file, and a small answer. */
import { createReadStream } from 'node:fs';
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../../model/limits.ts';

export interface Outgoing {
  method: string;
  url: URL;
  headers?: Record<string, string>;
  body?: Buffer | { file: string; size: number };
  signal: AbortSignal;
  /** Receives the bytes of a file as they go out. */
  sent?: (bytes: number) => void;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Rejects with the system's error, on abort, after a minute of silence, and for an answer over its bound. */
export async function exchange(outgoing: Outgoing): Promise<Answer> {
  const { method, url, headers = {}, body, signal } = outgoing;
  const length = body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.size;
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = start(url, {
    method,
    headers: { ...headers, ...(method === 'GET' || method === 'HEAD' ? {} : { 'content-length': length }) },
    signal,
    timeout: limits.image.registryTimeoutMs,
  });
  request.once('timeout', () => request.destroy(new Error('timed out: the registry is silent')));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).on('error', reject);
  });
  // A registry that refuses answers before it has read the body, and may close the connection: its answer counts.
  const [answer, writing] = await Promise.allSettled([answered, write(request, outgoing)]);
  if (answer.status === 'rejected') throw writing.status === 'rejected' ? writing.reason : answer.reason;
  const { statusCode = 0, headers: received } = answer.value;
  return { status: statusCode, headers: received, body: await readBounded(answer.value) };
}

async function write(request: ClientRequest, { body, signal, sent }: Outgoing): Promise<void> {
  if (body === undefined || Buffer.isBuffer(body)) {
    request.end(body);
    return;
  }
  const file = createReadStream(body.file);
  file.on('data', (chunk) => sent?.(chunk.length));
  request.once('response', (answer) => {
    if ((answer.statusCode ?? 0) >= 300) file.destroy();
  });
  await pipeline(file, request, { signal });
}

async function readBounded(answer: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > limits.image.configBytes) throw new Error('the registry’s answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
