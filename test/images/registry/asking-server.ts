/**
 * In front of a registry that lets everybody in: one that sends to a token service for a token, and to a storage host for
 * blobs, as the large ones do. Each is on an address of its own, and records who came with which Authorization.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  path: string;
  authorization: string | undefined;
}

export interface AskingServer {
  /** host:port */
  address: string;
  asked: { registry: Asked[]; token: Asked[]; storage: Asked[] };
  close(): Promise<void>;
}

export const TOKEN = 'short-lived';

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

/**
 * @param behind host:port of the registry that has the images.
 * @param basic The one Authorization that it takes, in place of a token's.
 */
export async function startAskingServer(behind: string, basic?: string): Promise<AskingServer> {
  const asked: AskingServer['asked'] = { registry: [], token: [], storage: [] };
  const closing: (() => Promise<void>)[] = [];
  const listen = async (kind: keyof typeof asked, host: string, answer: Answer): Promise<string> => {
    const server = createServer((request, response) => {
      asked[kind].push({ path: request.url ?? '', authorization: request.headers.authorization });
      answer(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    closing.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return `${host}:${(server.address() as AddressInfo).port}`;
  };
  const passOn: Answer = async ({ url, headers }, response) => {
    const found = await fetch(`http://${behind}${url}`, { headers: { accept: headers.accept ?? '*/*' } });
    const type = found.headers.get('content-type') ?? 'application/octet-stream';
    response.writeHead(found.status, { 'content-type': type }).end(Buffer.from(await found.arrayBuffer()));
  };

  const token = await listen('token', '127.0.0.3', async (_request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ token: TOKEN })),
  );
  const storage = await listen('storage', '127.0.0.2', passOn);
  const address = await listen('registry', '127.0.0.1', async (request, response) => {
    if (request.headers.authorization !== (basic ?? `Bearer ${TOKEN}`)) {
      const challenge = basic ? 'Basic realm="test"' : `Bearer realm="http://${token}/token",service="test"`;
      return response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    if (!request.url?.includes('/blobs/')) return passOn(request, response);
    return response.writeHead(307, { location: `http://${storage}${request.url}` }).end();
  });
  return {
    address,
    asked,
    async close() {
      for (const close of closing) await close();
    },
  };
}
