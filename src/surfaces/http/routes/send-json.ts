/** Results on their way to a client: small ones as they are, large ones piece by piece as the client takes them. */
import type { FastifyReply } from 'fastify';
import { isLargeJson, jsonPieces } from '../../json/pieces.ts';
import { writePieces } from '../../json/write-pieces.ts';

/** @returns What fastify is to send: the result itself, or the reply that it has been sent with. */
export async function sendJson(reply: FastifyReply, result: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isLargeJson(result)) return result;
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  try {
    await writePieces(raw, jsonPieces(result), signal);
    raw.end();
  } catch {
    // The status is sent: all that is left is to let the client see that this is not the whole.
    raw.destroy();
  }
  return reply;
}
