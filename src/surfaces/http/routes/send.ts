/**
 * Answers piece by piece, as the client reads them, until it goes away. Once the status is sent, only a broken
 * connection can show the client an incomplete body.
 */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { isLargeJson, jsonPieces, writePieces } from '../../json/pieces.ts';

interface Bytes {
  status: number;
  headers: Record<string, string | number>;
  stream: Readable;
  /** 0 for an unknown length. */
  length: number;
}

/** Sends exactly the promised number of bytes; a file that shrinks meanwhile breaks the connection. */
export async function sendBytes(
  reply: FastifyReply,
  { status, headers, stream, length }: Bytes,
  signal: AbortSignal,
): Promise<FastifyReply> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(status, headers);
  let left = length || Number.POSITIVE_INFINITY;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const part = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= part.length;
      if (!raw.write(part)) await once(raw, 'drain', { signal });
      if (left === 0) break;
    }
    if (left > 0 && length > 0) raw.destroy();
    else raw.end();
  } catch {
    raw.destroy();
  }
  return reply;
}

/** Returns the value for fastify to send: a small result itself, or the reply that has carried a large one. */
export async function sendJson(reply: FastifyReply, result: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isLargeJson(result)) return result;
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  try {
    await writePieces(raw, jsonPieces(result), signal);
    raw.end();
  } catch {
    raw.destroy();
  }
  return reply;
}

/** Returns a signal that aborts when the client goes away before it has its answer. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
