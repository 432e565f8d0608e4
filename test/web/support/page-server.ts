/**
 * The service's HTTP server over services in memory, with the built page beside it under the policy that it has to work
 * with, and a sign-in by cookie.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { createHttpServer } from '../../../src/surfaces/http/server.ts';

export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const dist = join(import.meta.dirname, '..', '..', '..', 'web', 'dist');
const COOKIE = 'sandhaven';
const screens = ['sandboxes', 'snapshots', 'documents', 'activity', 'people', 'connect', 'health'];
const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
};

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

export async function servePage(services: Services, port = 0): Promise<PageServer> {
  if (!existsSync(join(dist, 'index.html'))) throw new Error('web/dist is missing: run `make build` first');
  const silent = () => {};
  const app = createHttpServer({
    ...{ services, version: '1.2.3', ready: () => true },
    ...{ log: { info: silent, warn: silent, error: silent }, allowedHosts: ['127.0.0.1', 'localhost'] },
  });
  const keys = new Map<string, string>();
  // A cookie beside the page's header stands for the key that it was made with.
  app.server.prependListener('request', (request) => {
    const key = keys.get(cookieOf(request.headers.cookie) ?? '');
    if (key && request.headers['x-sandhaven-request'] === '1')
      request.headers.authorization = `Bearer ${key}`;
  });
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    addSignIn(raw, services, keys);
  });
  addPage(app);
  await app.listen({ host: '127.0.0.1', port });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function addSignIn(app: FastifyInstance, services: Services, keys: Map<string, string>): void {
  const config = { open: true };
  const answer = async (key: string) => {
    const caller = await services.identity.authenticate(key);
    if (!caller) throw new SandhavenError('unauthenticated', 'The API key is not valid.');
    const { id, name, email, role } = caller;
    return { user: { id, name, email }, role };
  };
  app.post<{ Body: string }>('/v1/sign-in', { config }, async (request, reply) => {
    const { api_key, ticket }: { api_key?: string; ticket?: string } = JSON.parse(request.body);
    const key = api_key ?? `shv_${ticket}`;
    const signedIn = await answer(key);
    const id = randomUUID();
    keys.set(id, key);
    void reply.header('set-cookie', `${COOKIE}=${id}; Path=/; HttpOnly; SameSite=Strict`);
    return signedIn;
  });
  app.get('/v1/sign-in', { config }, async (request: FastifyRequest) =>
    answer(keys.get(cookieOf(request.headers.cookie) ?? '') ?? ''),
  );
  app.delete('/v1/sign-in', { config }, async (request: FastifyRequest, reply) => {
    keys.delete(cookieOf(request.headers.cookie) ?? '');
    return reply.code(204).send();
  });
}

function addPage(app: FastifyInstance): void {
  const config = { open: true };
  const send = (reply: FastifyReply, file: string) =>
    reply
      .header('content-security-policy', POLICY)
      .header('cross-origin-opener-policy', 'same-origin')
      .type(types[extname(file)] ?? 'application/octet-stream')
      .send(readFileSync(join(dist, file)));
  const page = async (_request: FastifyRequest, reply: FastifyReply) => send(reply, 'index.html');
  app.get('/', { config }, page);
  for (const screen of screens) {
    app.get(`/${screen}`, { config }, page);
    app.get(`/${screen}/*`, { config }, page);
  }
  app.get<{ Params: { '*': string } }>('/assets/*', { config }, async (request, reply) =>
    send(reply, join('assets', normalize(`/${request.params['*']}`))),
  );
}

function cookieOf(header: string | undefined): string | undefined {
  return header
    ?.split('; ')
    .find((part) => part.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);
}
