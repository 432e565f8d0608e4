/** Streams exactly the promised number of bytes; a file that shrinks meanwhile breaks the connection. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

interface Bytes {
  status: number;
  headers: Record<string, string | number>;
  stream: Readable;
  /** 0 for an unknown length. */
  length: number;
}

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
    // The status is sent: only a broken connection can show the client an incomplete body.
    raw.destroy();
  }
  return reply;
}
