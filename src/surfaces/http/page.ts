/**
 * Serves the page from memory, to anybody: it holds no data. Its files are read once at the start. Whatever a browser opens that is no other route is the page,
 * which has routes of its own.
 */
import { hash } from 'node:crypto';
import { type Dirent, promises as fs } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { PAGE_HEADER } from './sign-in/cookies.ts';

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

/** A file of the page in the smallest forms: browsers take those. */
interface PageFile {
  /** Null where the compressed forms have it. */
  plain: Buffer | null;
  /** Smaller forms, the smallest first: both or none. */
  compressed: { encoding: 'br' | 'gzip'; body: Buffer }[];
  type: string;
  etag: string;
}

/** By their paths, such as `/assets/index-1a2b.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const INDEX = '/index.html';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

const compressedAlready = /^(?:font\/|image\/(?!svg))/;

/** Returns null when the page was not built. Rejects when it is larger than a page can be. */
export async function readPage(folder: string): Promise<PageFiles | null> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(nothingThere);
  if (entries === null) return null;
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name));
  if (paths.length > limits.page.files) throw tooLarge();
  const files = new Map<string, PageFile>();
  let bytes = 0;
  for (const path of paths) {
    const body = await fs.readFile(path);
    bytes += body.length;
    if (bytes > limits.page.bytes) throw tooLarge();
    const type = types[extname(path)] ?? 'application/octet-stream';
    const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    const compressed = await compress(body, type);
    files.set(name, { plain: compressed.length > 0 ? null : body, type, etag, compressed });
  }
  return files.has(INDEX) ? files : null;
}

/** Returns the file for clients that take no compression, which are few. */
async function plainBody({ plain, compressed }: PageFile): Promise<Buffer> {
  const packed = compressed.find(({ encoding }) => encoding === 'gzip');
  return plain ?? promisify(gunzip)(packed?.body ?? '', { maxOutputLength: limits.page.bytes });
}

async function compress(body: Buffer, type: string): Promise<PageFile['compressed']> {
  if (compressedAlready.test(type)) return [];
  const quality = { [constants.BROTLI_PARAM_QUALITY]: limits.page.brotliQuality };
  const forms = [
    { encoding: 'br' as const, body: await promisify(brotliCompress)(body, { params: quality }) },
    { encoding: 'gzip' as const, body: await promisify(gzip)(body) },
  ];
  return forms.every((form) => form.body.length < body.length) ? forms : [];
}

function nothingThere(error: NodeJS.ErrnoException): Dirent[] | null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function tooLarge(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The built page has more files or bytes than a page can have.',
    {
      hint: 'Build it again with `make web`.',
    },
  );
}

/**
 * Compresses what the page reads. Lists repeat themselves, and people are often far from their service. Programs get their
 * answers as they are: most are on the same network, where compressing takes longer than sending.
 *
 * Compression shows by its length what a secret beside foreign text is (BREACH), to whoever can make a browser ask many times.
 * No other site can: these requests carry the page's own header.
 *
 * Must be called before the routes are added. Larger answers are sent piece by piece, and stay as they are.
 */
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
