/**
 * Serves the page from memory, to anybody: it holds no data. Whatever a browser opens that is no other route is the page,
 * which has routes of its own.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../model/errors.ts';
import { INDEX, type PageFile, type PageFiles, plainBody } from './files.ts';

/**
 * Only scripts, styles and fonts of this origin. Frames show files of sandboxes, from sites of the preview gateway; without
 * one, pictures come as blobs.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
};

const FOREVER = 'public, max-age=31536000, immutable';

const withoutPage = 'The page is not built here. The API is at /v1, its description at /openapi.json.\n';

export interface PageParts {
  /** null when it was not built. */
  files: PageFiles | null;
  /** Origins of previews, as a source of the policy; null for none. */
  frames(): string | null;
}

/** @param refuse Answers a request for what is not there, as any other route does. */
export function addPageRoutes(
  app: FastifyInstance,
  { files: page, frames }: PageParts,
  refuse: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  const config = { open: true };
  app.get('/*', { config }, async (request, reply) => {
    const { pathname } = new URL(request.url, 'http://page');
    if (pathname === '/' && page) return sendIndex(request, reply);
    const file = page?.get(pathname);
    if (file && pathname !== INDEX) return send(request, reply, file, pathname.startsWith('/assets/'));
    if (opensPage(request)) return sendIndex(request, reply);
    await refuse(request, reply);
    throw notFound('route', `There is no ${request.method} on this path.`, ROUTES_HINT);
  });

  const headers = () => ({ ...HEADERS, 'content-security-policy': policyWith(frames()) });
  const send = (request: FastifyRequest, reply: FastifyReply, file: PageFile, isHashed: boolean) =>
    sendFile(request, reply.headers(headers()), file, isHashed);

  async function sendIndex(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const index = page?.get(INDEX);
    if (index) return send(request, reply, index, false);
    return reply.headers(headers()).type('text/plain; charset=utf-8').send(withoutPage);
  }
}

export const ROUTES_HINT =
  'GET /openapi.json describes every route; tools are called with POST /v1/tools/{name}.';

/** A browser that opens an address, and no program that asks for one of the API. */
function opensPage({ url, headers }: FastifyRequest): boolean {
  return (
    (headers.accept ?? '').includes('text/html') && !/^\/(?:v1|mcp|auth|assets|packages)(?:[/?]|$)/.test(url)
  );
}

function policyWith(frames: string | null): string {
  return frames === null ? POLICY : `${POLICY}; frame-src ${frames}`;
}

async function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  isHashed: boolean,
): Promise<FastifyReply> {
  reply.headers({ etag: file.etag, vary: 'accept-encoding' });
  // Of the raw response, over what every other answer has.
  reply.raw.setHeader('cache-control', isHashed ? FOREVER : 'no-cache');
  if (headers['if-none-match']?.includes(file.etag)) return reply.code(304).send();
  const accepted = String(headers['accept-encoding'] ?? '');
  const form = file.compressed.find(({ encoding }) => new RegExp(`\\b${encoding}\\b`).test(accepted));
  if (!form) return reply.type(file.type).send(await plainBody(file));
  return reply.header('content-encoding', form.encoding).type(file.type).send(form.body);
}
