/** A registry that stops in the middle of every layer, in front of a real one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StallingRegistry {
  /** host:port */
  address: string;
  /** Resolves when the first bytes of a layer were sent. */
  stalled: Promise<void>;
  /** Sends the rest, and everything whole from now on. */
  release(): void;
  /** As `release`, but what was stalled breaks off. */
  cut(): void;
  close(): Promise<void>;
}

export async function startStallingRegistry(upstream: string): Promise<StallingRegistry> {
  let stalls = true;
  const rests: (() => void)[] = [];
  let tell = (): void => {};
  const stalled = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const server = createServer((request, response) => {
    forward(upstream, request, response, (rest) => {
      if (!stalls) return rest();
      rests.push(rest);
      tell();
    }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stalled,
    release() {
      stalls = false;
      for (const rest of rests.splice(0)) rest();
    },
    cut() {
      stalls = false;
      server.closeAllConnections();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function forward(
  upstream: string,
  request: IncomingMessage,
  response: ServerResponse,
  halfWay: (rest: () => void) => void,
): Promise<void> {
  const accept = request.headers.accept;
  const answer = await fetch(`http://${upstream}${request.url}`, {
    method: request.method ?? 'GET',
    headers: accept === undefined ? {} : { accept },
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get('content-type') ?? '';
  const headers: Record<string, string | number> = { 'content-type': type, 'content-length': body.length };
  const digest = answer.headers.get('docker-content-digest');
  if (digest) headers['docker-content-digest'] = digest;
  response.writeHead(answer.status, headers);
  const layer = request.url?.includes('/blobs/') && type === 'application/octet-stream' && body[0] === 0x1f;
  if (!layer) {
    response.end(body);
    return;
  }
  const half = body.length >> 1;
  response.write(body.subarray(0, half));
  halfWay(() => response.end(body.subarray(half)));
}
