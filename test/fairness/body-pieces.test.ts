/** A body goes on as bytes: the pieces that its sender made of it cost neither writes nor memory. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { gatherPieces } from '../../src/fairness/body-pieces.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** An answer whose body comes in chunks of these bytes. */
async function answerOf(body: (response: ServerResponse) => void): Promise<IncomingMessage> {
  const server = createServer((_request, response) => body(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = request({ port: (server.address() as AddressInfo).port, agent: false });
  asked.on('error', () => {});
  asked.end();
  open.push({
    close() {
      asked.destroy();
      server.closeAllConnections();
      server.close();
    },
  });
  return new Promise((resolve) => {
    asked.once('response', (answer) => {
      gatherPieces(answer);
      resolve(answer);
    });
  });
}

/** What arrives where the body goes. */
class Arrival extends Writable {
  readonly pieces: Buffer[] = [];
  /** While set, nothing more is taken. */
  stuck = false;
  #goOn = () => {};

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.pieces.push(chunk);
    this.#goOn = done;
    if (!this.stuck) done();
  }

  release(): void {
    this.stuck = false;
    this.#goOn();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.pieces);
  }
}

/** Chunks of one byte, as they stand on the wire, all in one write. */
function ofOneByte(count: number): (response: ServerResponse) => void {
  return ({ socket }) => {
    const chunks = Array.from({ length: count }, (_, at) => `1\r\n${at % 10}\r\n`).join('');
    socket?.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  };
}

it('chunks of one byte go on together, whole and in order', async () => {
  const to = new Arrival();
  (await answerOf(ofOneByte(100_000))).pipe(to);
  await once(to, 'finish');
  expect(to.bytes.toString()).toBe('0123456789'.repeat(10_000));
  expect(to.pieces.length).toBeLessThan(1_000);
});

it('while nobody takes anything, little is read, and no byte is kept as a piece of its own', async () => {
  const answer = await answerOf(ofOneByte(500_000));
  const to = new Arrival({ highWaterMark: 16_384 });
  to.stuck = true;
  answer.pipe(to);
  let seen = 0;
  answer.on('data', () => seen++);
  await sleep(500);
  expect(answer.readableLength).toBeLessThan(200_000);
  to.release();
  await once(to, 'finish');
  expect(to.bytes.length).toBe(500_000);
  expect(seen).toBeLessThan(2_000);
});

it('a body of very many pieces waits for its turn to be read on, and is whole', async () => {
  const answer = await answerOf(ofOneByte(300_000));
  const paused: boolean[] = [];
  answer.on('data', () => paused.push(answer.socket.isPaused()));
  const whole = text(answer);
  await once(answer, 'end');
  expect(await whole).toBe('0123456789'.repeat(30_000));
  expect(paused[0]).toBe(true);
});

it('of several bodies in chunks of one byte, one is read on a turn', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => answerOf(ofOneByte(100_000))));
  const read = new Set<IncomingMessage>();
  const finished = answers.map((answer) => {
    const to = new Arrival();
    answer.on('data', () => read.add(answer));
    answer.pipe(to);
    return once(to, 'finish');
  });
  const over = Promise.all(finished).then(() => 'over');
  // What had come before comes at once.
  await nextTurn();
  let most = 0;
  for (let state = ''; state !== 'over'; most = Math.max(most, read.size)) {
    read.clear();
    state = await Promise.race([over, nextTurn('goes on')]);
  }
  // Of all eight, one that is read on, and one that comes for the first time.
  expect(most).toBeLessThanOrEqual(2);
});

it('a connection goes on to its next message, however slowly the body before was taken', async () => {
  const server = createServer((incoming, response) => {
    const to = new Arrival({ highWaterMark: 1_024 });
    to.stuck = true;
    gatherPieces(incoming);
    incoming.pipe(to);
    const timer = setInterval(() => {
      to.release();
      to.stuck = !incoming.complete;
    }, 5);
    to.once('finish', () => {
      clearInterval(timer);
      response.end(String(to.bytes.length));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  open.push({
    close() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  });
  for (const size of [3, 2_000, 70_000, 300_000, 5]) {
    const { port } = server.address() as AddressInfo;
    const sent = request({ port, agent, method: 'POST' });
    sent.end(Buffer.alloc(size));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe(String(size));
  }
});

it('a slow body goes on at once', async () => {
  const { promise: sent, resolve: finish } = Promise.withResolvers<ServerResponse>();
  const answer = await answerOf((response) => {
    response.write('first');
    finish(response);
  });
  const to = new Arrival();
  answer.pipe(to);
  await expect.poll(() => to.bytes.toString(), { timeout: 1_000 }).toBe('first');
  (await sent).end(' last');
  await once(to, 'finish');
  expect(to.bytes.toString()).toBe('first last');
});

it('large pieces go on without a copy, in order with the small ones', async () => {
  const large = Buffer.alloc(300_000, 'L');
  const to = new Arrival();
  const answer = await answerOf((response) => {
    response.write('a');
    response.write(large);
    response.end('z');
  });
  answer.pipe(to);
  await once(to, 'finish');
  expect(to.bytes).toEqual(Buffer.concat([Buffer.from('a'), large, Buffer.from('z')]));
});

it('nothing is read for somebody who has left', async () => {
  const answer = await answerOf((response) => response.write('x'.repeat(1_000)));
  const to = new Arrival();
  answer.pipe(to);
  to.destroy();
  await once(to, 'close');
  expect(answer.isPaused()).toBe(true);
});
