/** Visitors who upload in chunks of one byte cost themselves time, and nobody beside them. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processorMs } from '../support/processor-time.ts';
import { type LoneGateway, startLoneGateway } from './lone-gateway.ts';
import { dial, visit } from './visitor.ts';

const UPLOADS = 20;
const CHUNKS = '1\r\nx\r\n'.repeat(200_000);

let application: Server;
let gateway: LoneGateway['gateway'];
let site: string;
const sockets: Socket[] = [];

beforeEach(async () => {
  application = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      // An upload is taken, and never answered.
      if (String(bytes).startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
  }).listen(0, '127.0.0.1');
  await once(application, 'listening');
  ({ gateway, site } = await startLoneGateway((application.address() as AddressInfo).port));
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  application.close();
  await gateway.close();
});

const head = () => `POST / HTTP/1.1\r\nHost: ${new URL(site).host}\r\nTransfer-Encoding: chunked\r\n\r\n`;

/** A connection of another network than the visitor's. */
function fromElsewhere(): Socket {
  const socket = connect({ port: Number(new URL(site).port), host: '127.0.0.1', localAddress: '127.9.9.9' });
  return socket.on('error', () => {});
}

it('a visitor waits for less than 150 ms of work beside 20 of another network who upload in chunks of one byte', async () => {
  await visit(site);
  const uploads = Array.from({ length: UPLOADS }, () => fromElsewhere());
  sockets.push(...uploads);
  await Promise.all(uploads.map((socket) => once(socket, 'connect')));
  const upload = Buffer.from(head() + CHUNKS);
  for (const socket of uploads) socket.write(upload);
  // What this thread, the gateway's, works until the visitor has the answer: others' work on the host is none of it.
  let worst = 0;
  for (let at = 0; at < 20; at++) {
    const begun = processorMs();
    expect((await visit(site)).text).toBe('ok');
    worst = Math.max(worst, processorMs() - begun);
    await sleep(5);
  }
  expect(worst).toBeLessThan(150);
});

it('an upload in chunks of one byte arrives whole', async () => {
  const received = new Promise<number>((resolve) => {
    application.on('connection', (socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes;
        if (!text.endsWith('0\r\n\r\n')) return;
        const body = text.slice(text.indexOf('\r\n\r\n') + 4);
        resolve(body.match(/x/g)?.length ?? 0);
      });
    });
  });
  sockets.push(dial(site, `${head()}${CHUNKS}0\r\n\r\n`));
  expect(await received).toBe(200_000);
});
