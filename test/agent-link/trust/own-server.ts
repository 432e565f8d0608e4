/** Authorities of sandboxes, and a server that one of them has signed, as the egress program answers in place of a host. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { authorityOfSandbox, signLeaf } from '../../network/secrets/leaf.ts';

const authority = authorityOfSandbox('sb_0123456789abcdef');

/** Of the sandbox, and of another one, in PEM. */
export const { certificate } = authority;
export const { certificate: earlier } = authorityOfSandbox('sb_0000000000000000');

export const HOST = 'api.example.test';

export interface OwnServer {
  /** By its name, which stands for 127.0.0.1 inside. */
  url: string;
  close(): void;
}

export async function startOwnServer(answer: RequestListener): Promise<OwnServer> {
  const server = createServer(signLeaf(authority, HOST), answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `https://${HOST}:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  };
}
