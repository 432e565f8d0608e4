/**
 * A page's own server, as an application would have one: it serves the page and the built SDK, and passes calls
 * on to the service with the key, which the page never sees. The service itself refuses foreign origins.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

export async function servePage(sdk: string, service: { url: string; apiKey: string }): Promise<PageServer> {
  const server = createServer((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://page');
    const answered = pathname.startsWith('/v1/')
      ? pass(incoming, response, service)
      : serveFile(pathname, response, sdk);
    answered.catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serveFile(pathname: string, response: ServerResponse, sdk: string): Promise<void> {
  if (!pathname.startsWith('/sdk/')) {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>page</title>');
    return;
  }
  const source = await readFile(join(sdk, basename(pathname)));
  response.writeHead(200, { 'content-type': 'text/javascript' }).end(source);
}

function pass(
  incoming: IncomingMessage,
  response: ServerResponse,
  { url, apiKey }: { url: string; apiKey: string },
): Promise<void> {
  const target = new URL(incoming.url ?? '/', url);
  const { origin: _, ...kept } = incoming.headers;
  const headers = { ...kept, host: target.host, authorization: `Bearer ${apiKey}` };
  return new Promise((resolve, reject) => {
    const outgoing = request(target, { method: incoming.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response).then(resolve, reject);
    });
    // A page that leaves ends its call.
    response.once('close', () => outgoing.destroy());
    outgoing.once('error', reject);
    pipeline(incoming, outgoing).catch(reject);
  });
}
