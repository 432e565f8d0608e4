/** The stop of previews: others are served while requests in progress end. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { skippableTime } from '../support/skip-time.ts';
import { type LoneGateway, startLoneGateway } from './lone-gateway.ts';
import { visit } from './visitor.ts';

let application: Server;
let waiting: ServerResponse[];
let gateway: LoneGateway['gateway'];
let site: string;

beforeEach(async () => {
  waiting = [];
  application = createServer((request, response) => {
    if (request.url === '/slow') waiting.push(response);
    else response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(application, 'listening');
  ({ gateway, site } = await startLoneGateway((application.address() as AddressInfo).port));
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
