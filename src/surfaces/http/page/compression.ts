/**
 * Compresses what the page reads. Lists repeat themselves, and people are often far from their service. Programs get their
 * answers as they are: most are on the same network, where compressing takes longer than sending.
 *
 * Compression shows by its length what a secret beside foreign text is (BREACH), to whoever can make a browser ask many times.
 * No other site can: these requests carry the page's own header.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { limits } from '../../../model/limits.ts';
import { PAGE_HEADER } from '../sign-in/own-page.ts';

/** Must be called before the routes are added. Larger answers are sent piece by piece, and stay as they are. */
export function compressForPage(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.headers[PAGE_HEADER] === undefined || typeof payload !== 'string') return payload;
    reply.header('vary', 'accept-encoding');
    if (payload.length < limits.page.compressedFromChars || !takesGzip(request)) return payload;
    reply.header('content-encoding', 'gzip');
    return promisify(gzip)(payload);
  });
}

function takesGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(headers['accept-encoding'] ?? ''));
}
