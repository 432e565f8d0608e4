/** Files of the page, read once at the start, in the smallest forms: browsers take those. */
import { hash } from 'node:crypto';
import { type Dirent, promises as fs } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

export interface PageFile {
  /** Null where the compressed forms have it. */
  plain: Buffer | null;
  /** Smaller forms, the smallest first: both or none. */
  compressed: { encoding: 'br' | 'gzip'; body: Buffer }[];
  type: string;
  etag: string;
}

/** By their paths, such as `/assets/index-1a2b.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

export const INDEX = '/index.html';

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
export async function plainBody({ plain, compressed }: PageFile): Promise<Buffer> {
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
