/** The stop of previews: others are served while requests in progress end. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PreviewAccess } from '../../src/control/access/preview-access.ts';
import { PreviewGateway } from '../../src/gateways/preview/gateway.ts';
import { limits } from '../../src/model/limits.ts';
import { createArrivals } from '../../src/model/network/arrival.ts';
import { skippableTime } from '../support/skip-time.ts';
import { visit } from './visitor.ts';

let application: Server;
let waiting: ServerResponse[];
let gateway: PreviewGateway;
let site: string;

beforeEach(async () => {
  waiting = [];
  application = createServer((request, response) => {
    if (request.url === '/slow') waiting.push(response);
    else response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(application, 'listening');
  const { port } = application.address() as AddressInfo;
  const access = {
    admitStandard: async (sandboxId: string) => ({ sandboxId, port, tokenId: null, expiresAt: null }),
    visit: (_admission: unknown, _address: unknown, _expire: unknown, work: () => Promise<void>) => work(),
    connect: async () => connect(port, '127.0.0.1'),
  } as unknown as PreviewAccess;
  const log = { info() {}, warn() {}, error() {} };
  const arrivals = createArrivals([]);
  gateway = new PreviewGateway({ access, files: {} as never, domain: 'localhost', arrivals, tls: null, log });
  const at = await gateway.listen({ host: '127.0.0.1', port: 0 });
  site = `http://3000-0000000000000001.localhost:${at}/`;
});

afterEach(async () => {
  application.closeAllConnections();
  application.close();
  await gateway.close();
});

it('others are served while a request in progress ends', async () => {
  const slow = visit(`${site}slow`);
  await expect.poll(() => waiting).toHaveLength(1);
  const drained = gateway.drain();
  expect((await visit(site)).text).toBe('ok');
  waiting[0]?.end('late');
  await drained;
  expect((await slow).text).toBe('late');
});

it('one that does not end in time is cut at the close', async () => {
  const skip = skippableTime();
  const slow = visit(`${site}slow`).catch(() => null);
  await expect.poll(() => waiting).toHaveLength(1);
  const drained = gateway.drain();
  await skip(limits.closeGraceMs);
  await drained;
  await gateway.close();
  expect(await slow).toBeNull();
});
