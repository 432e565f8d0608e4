/**
 * GET /packages: clients of this service, for who has none yet, so without a key. All are in memory, and nothing of a request
 * is a path. The list is JSON, and HTML for browsers and pip, which reads links (`pip install --find-links`).
 */
import { hash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { originForPrograms } from '../../model/network/service-names.ts';

const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

export interface PackageParts {
  packages: readonly PackageFile[];
  publicUrl: string | null;
}

export function addPackageRoutes(app: FastifyInstance, { packages, publicUrl }: PackageParts): void {
  const config = { open: true };
  const byName = new Map(
    packages.flatMap((one) => [one.name, one.alias ?? one.name].map((key) => [key, one])),
  );

  for (const path of ['/packages', '/packages/']) app.get(path, { config }, list);

  async function list(request: FastifyRequest, reply: FastifyReply): Promise<object> {
    reply.headers({ ...HEADERS, vary: 'accept' });
    if ((request.headers.accept ?? '').includes('text/html'))
      return reply.type('text/html; charset=utf-8').send(linksTo(packages));
    const listed = packages.map(({ name, alias, body, sha256 }) => ({
      name,
      alias,
      bytes: body.length,
      sha256,
    }));
    return { url: addressOf(request), packages: listed };
  }

  app.get<{ Params: { name: string } }>('/packages/:name', { config }, async (request, reply) => {
    const found = byName.get(request.params.name);
    if (!found) throw notFound('package', 'There is no such package.', 'GET /packages lists them.');
    const etag = `"${found.sha256}"`;
    reply.headers({ ...HEADERS, etag });
    // Of the raw response, over what every other answer has. Names stay while their bytes change.
    reply.raw.setHeader('cache-control', 'no-cache');
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    return reply.type('application/octet-stream').send(found.body);
  });

  function addressOf({ arrival: { protocol, host } }: FastifyRequest): string {
    const listening = app.server.address();
    const onlySix = typeof listening === 'object' && listening?.address === '::1';
    return originForPrograms(publicUrl ?? `${protocol}://${host}`, onlySix ? '[::1]' : '127.0.0.1');
  }
}

/** The npm packages have their short names here: pip would take the long ones for versions of `sandhaven`. */
function linksTo(packages: readonly PackageFile[]): string {
  const links = packages.map(({ name, alias, sha256 }) => {
    const shown = alias ?? name;
    return `<a href="/packages/${shown}#sha256=${sha256}">${shown}</a><br>`;
  });
  return ['<!doctype html>', '<title>Packages of Sandhaven</title>', ...links, ''].join('\n');
}

/** Packages that the service gives to its users: clients of it, read once at the start. */
export interface PackageFile {
  /** Such as `sandhaven-mcp-1.2.3.tgz`. */
  name: string;
  /** Name that stays the same in each version, such as `mcp.tgz`; null for none. */
  alias: string | null;
  body: Buffer;
  /** In hexadecimal digits. */
  sha256: string;
}

const PACKAGE = /^[a-z][\w.+-]*\.(?:tgz|whl)$/;
const OWN_NPM = /^sandhaven-([a-z]+)-\d[\w.+-]*(\.tgz)$/;

/** Returns them by name; none where they were not built. Rejects when they are larger than they can be. */
export async function readPackages(folder: string): Promise<PackageFile[]> {
  const found = await fs.readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const names = found.filter((name) => PACKAGE.test(name)).sort();
  if (names.length > limits.packages.files) throw tooLarge();
  const files: PackageFile[] = [];
  let bytes = 0;
  for (const name of names) {
    const body = await fs.readFile(join(folder, name));
    bytes += body.length;
    if (bytes > limits.packages.bytes) throw tooLarge();
    const alias = OWN_NPM.exec(name)?.slice(1).join('') ?? null;
    files.push({ name, alias, body, sha256: hash('sha256', body, 'hex') });
  }
  return files;
}

function tooLarge(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The built packages have more files or bytes than fit.', {
    hint: 'Build them again with `make packages`.',
  });
}
