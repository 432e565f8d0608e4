/** Sends results to a client: small ones whole, large ones piece by piece as the client reads. */
import type { FastifyReply } from 'fastify';
import { isLargeJson, jsonPieces } from '../../json/pieces.ts';
import { writePieces } from '../../json/write-pieces.ts';

/** @returns the value for fastify to send: the result itself, or the reply that already carried it. */
export async function sendJson(reply: FastifyReply, result: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isLargeJson(result)) return result;
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  try {
    await writePieces(raw, jsonPieces(result), signal);
    raw.end();
  } catch {
    // The status is sent: only a broken connection can show the client an incomplete body.
    raw.destroy();
  }
  return reply;
}
