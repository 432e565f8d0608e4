/** The stop of previews: others are served while requests in progress end. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { skippableTime } from '../support/skip-time.ts';
import { type LoneGateway, startLoneGateway } from './lone-gateway.ts';
import { visit } from './visitor.ts';

const CLOSE_GRACE_MS = 5_000;

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
  await skip(CLOSE_GRACE_MS);
  await drained;
  await gateway.close();
  expect(await slow).toBeNull();
});

it('a connection that upgrades after the stop began does not hold it up', async () => {
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
  application.on('upgrade', (_request, socket) => socket.write(switched));
  const { port, host } = new URL(site);
  const accepted = once(gateway.server, 'connection');
  const visitor = connect(Number(port), '127.0.0.1').on('error', () => {});
  const [socket] = (await accepted) as [Socket];
  // The stop ends a connection that has sent nothing.
  visitor.write('GET / HTTP/1.1\r\n');
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
  const closed = gateway.close();
  visitor.write(`Host: ${host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
  await once(visitor.resume(), 'close');
  await closed;
});
