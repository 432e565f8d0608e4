/**
 * GET /packages: clients of this service, for who has none yet, so without a key. All are in memory, and nothing of a request
 * is a path. The list is JSON, and HTML for browsers and pip, which reads links (`pip install --find-links`).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../model/errors.ts';
import { originForPrograms } from '../../../model/network/own-name.ts';
import type { PackageFile } from './files.ts';

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
