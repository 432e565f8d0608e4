/** What one member may have of the service at once, watched from beside: another member is always served. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FairQueue } from '../../../src/fairness/fair-queue.ts';
import { longestTurn } from '../../support/event-loop.ts';
import { skippableTime } from '../../support/skip-time.ts';
import { settledMemory, standingMemory } from '../../support/standing-memory.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

const REFUSAL_DELAY_MS = 1_000;
const BODY_GRACE_MS = 5_000;
const LINGER_MS = 5_000;
const STALLED_READER_MS = 20_000;
const STALLED_READER_CHECK_MS = 2_000;

const MiB = 1024 * 1024;

let http: Harness;
let sockets: Socket[];

beforeEach(async () => {
  http = await startHttp();
  sockets = [];
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await http.close();
});

function open(): Socket {
  const socket = connect(http.port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  return socket;
}

/** A request of one member, as far as its body. */
function send(
  headers: Record<string, string | number>,
  path = '/v1/tools/Sandbox.WhoAmI',
  key = API_KEY,
): Socket {
  const socket = open();
  const own = {
    host: 'localhost',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...headers,
  };
  const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return socket;
}

/** One call of the other member. */
function beside(name = 'Sandbox.WhoAmI', parameters: unknown = {}): Promise<Response> {
  return fetch(`${http.url}/v1/tools/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MEMBER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
}

async function statusOf(socket: Socket): Promise<number> {
  const [chunk] = await once(socket, 'data');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]);
}

describe('requests', () => {
  it('[WIRE-ERR-14] of one member are 256 at once, and others are served meanwhile', async () => {
    for (let at = 0; at < 256; at++) send({ 'content-length': 10 });
    const status = async () => (await http.call('Sandbox.WhoAmI', {})).status;
    await expect.poll(status, { timeout: 5_000 }).toBe(429);
    const begun = performance.now();
    const refused = await http.call('Sandbox.WhoAmI', {});
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'resource_exhausted', retryable: true });
    // Who tries again at once would cost the others the most.
    expect(performance.now() - begun).toBeGreaterThan(REFUSAL_DELAY_MS - 50);
    expect((await beside()).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(status, { timeout: 5_000 }).toBe(200);
  });

  it('end with the reason when they send less than 4 KiB a second', async () => {
    const skip = skippableTime();
    const begun = performance.now();
    const silent = send({ 'content-length': 10 });
    const dripping = send({ 'content-length': 24 * MiB }, '/v1/tools/Sandbox.WriteFile');
    const drip = setInterval(() => dripping.write(' '), 200);
    const statuses = Promise.all([statusOf(silent), statusOf(dripping)]);
    let ended = false;
    void statuses.then(() => {
      ended = true;
    });
    await sleep(300);
    await skip(BODY_GRACE_MS - 2_000);
    expect(ended).toBe(false);
    await skip(3_000);
    expect(await statuses).toEqual([504, 504]);
    clearInterval(drip);
    expect(performance.now() - begun).toBeLessThan(BODY_GRACE_MS + 3_000);
  });
});

describe('refusals', () => {
  /** Fills the places of refusals that wait, and is refused beyond them, once by a next request and once without. */
  async function refuseBeyond(): Promise<{ patient: Socket }> {
    for (let at = 0; at < 512; at++) send({ 'content-length': 10 });
    const [patient, hasty] = [send({ 'content-length': 10 }), send({ 'content-length': 0 })];
    const head = 'POST /v1/tools/Sandbox.WhoAmI HTTP/1.1\r\nhost: localhost\r\n';
    hasty.write(`${head}authorization: Bearer ${API_KEY}\r\ncontent-length: 0\r\n\r\n`);
    const ended = once(hasty, 'close').then(() => true);
    const isCut = await Promise.race([ended, once(hasty, 'data').then(() => false)]);
    // On a busy host the first ones have ended their pause before the last come, which have a place then.
    return isCut ? { patient } : refuseBeyond();
  }

  it('are spread over a second, so that those who come back do not come at once', async () => {
    for (let at = 0; at < 256; at++) send({ 'content-length': 10 });
    const status = async () => (await http.call('Sandbox.WhoAmI', {})).status;
    await expect.poll(status, { timeout: 5_000 }).toBe(429);
    const refusedAt = async () => {
      expect(await statusOf(send({ 'content-length': 10 }))).toBe(429);
      return performance.now();
    };
    const times = await Promise.all(Array.from({ length: 64 }, refusedAt));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(500);
  });

  it('wait, 256 of one member at most; beyond, the connection ends after the pause, or with its next request', async () => {
    const begun = performance.now();
    const { patient } = await refuseBeyond();
    // By its next request: the other, refused at the same time, goes on waiting. What it took says nothing on a busy host.
    expect(patient.closed).toBe(false);
    await once(patient, 'close');
    expect(performance.now() - begun).toBeGreaterThan(REFUSAL_DELAY_MS - 50);
    expect(patient.bytesRead).toBe(0);
    expect((await beside()).status).toBe(200);
  });
});

describe('bodies', () => {
  /** A body that goes on after its first 64 KiB, which need no room. */
  function begin(headers: Record<string, string | number>): void {
    const piece = ' '.repeat(65_537);
    const isChunked = 'transfer-encoding' in headers;
    send(headers, '/v1/tools/Sandbox.WriteFile').write(isChunked ? `10001\r\n${piece}\r\n` : piece);
  }

  it('of unknown length hold nothing up to 64 KiB, and their own length once they are read', async () => {
    const path = '/v1/tools/Sandbox.RunCommand';
    for (const padding of [0, 0, 100_000, 100_000]) {
      const body = `{"sandbox":"a","command":"sleep 45"${' '.repeat(padding)}}`;
      send({ 'transfer-encoding': 'chunked' }, path).write(
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      );
      // Its rest may come at any time.
      send({ 'transfer-encoding': 'chunked' }, path).write('1\r\n{\r\n');
    }
    await expect.poll(() => http.begun.length).toBe(4);
    const body = new Blob([
      JSON.stringify({ sandbox: 'a', path: 'large', content: 'x'.repeat(20 * MiB) }),
    ]).stream();
    const headers = { 'content-type': 'application/json' };
    const written = http.fetch('/v1/tools/Sandbox.WriteFile', {
      ...{ method: 'POST', headers, body, duplex: 'half' },
    } as RequestInit);
    expect((await written).status).toBe(200);
  });

  it('of unknown length hold the most they may have from 64 KiB on, and not the time of their senders', async () => {
    const asked = vi.spyOn(FairQueue.prototype, 'take');
    onTestFinished(() => asked.mockRestore());
    const room = () => asked.mock.calls.filter(([, bytes = 1]) => bytes > 65_536).length;
    for (let at = 0; at < 2; at++) begin({ 'transfer-encoding': 'chunked' });
    await expect.poll(room).toBe(2);
    const skip = skippableTime();
    const body = `{}${' '.repeat(65_600)}`;
    const waiting = send({ 'content-length': body.length });
    waiting.write(body);
    const status = statusOf(waiting);
    await expect.poll(room).toBe(3);
    // 65,602 bytes are too slow after 22 s, if none of them was kept waiting.
    await skip(25_000);
    expect(await Promise.race([status, sleep(300, 'waits')])).toBe('waits');
    for (const socket of sockets.slice(0, 2)) socket.destroy();
    expect(await status).toBe(200);
  });

  it('of one member are 48 MiB at once; more wait, and those of others are taken', async () => {
    for (let at = 0; at < 11; at++) begin({ 'content-length': 24 * MiB });
    await sleep(300);
    const parameters = { path: 'large', content: 'x'.repeat(20 * MiB) };
    expect((await beside('Sandbox.WriteFile', parameters)).status).toBe(200);
    const waits = http.call('Sandbox.WriteFile', parameters);
    expect(await Promise.race([waits.then(() => 'taken'), sleep(300, 'waits')])).toBe('waits');
    for (const socket of sockets) socket.destroy();
    expect((await waits).status).toBe(200);
  });

  it('of millions of keys and values are refused before they are objects, at once', async () => {
    const million = Array.from({ length: 1_200_000 }, (_, at) => `"k${at}":1`).join();
    const body = Buffer.from(`{"sandbox":"a","labels":{${million}}}`);
    const heap = process.memoryUsage().heapUsed;
    const { ms, result } = await longestTurn(async () => {
      const socket = send({ 'content-length': body.length }, '/v1/tools/Sandbox.SetSandboxLabels');
      socket.write(body);
      return statusOf(socket);
    });
    expect(result).toBe(413);
    expect(ms).toBeLessThan(100);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(32 * MiB);
  });

  it('are read no further than 128 KiB when they are refused, and the refusal is seen', async () => {
    const skip = skippableTime();
    const body = Buffer.from(`{"sandbox":"a","labels":[${'{},'.repeat(8_000_000)}0]}`);
    const socket = send({ 'content-length': body.length }, '/v1/tools/Sandbox.SetSandboxLabels');
    const ended = once(socket, 'end');
    socket.write(body);
    expect(await statusOf(socket)).toBe(413);
    await ended;
    // What the system has room for is on its way; the rest never leaves.
    await sleep(300);
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(socket.closed).toBe(false);
    await skip(LINGER_MS);
    await expect.poll(() => socket.closed).toBe(true);
  });

  it('in chunks of one byte cost no more memory than others while they wait', async () => {
    for (let at = 0; at < 2; at++) begin({ 'content-length': 24 * MiB });
    await sleep(100);
    const before = await settledMemory();
    const chunks = '1\r\nx\r\n'.repeat(65_537);
    for (let at = 0; at < 60; at++) {
      send({ 'transfer-encoding': 'chunked' }, '/v1/tools/Sandbox.WriteFile').write(chunks);
    }
    await sleep(1_000);
    // Behind all of what has come.
    expect((await beside()).status).toBe(200);
    expect(standingMemory() - before).toBeLessThan(150 * MiB);
  }, 30_000);

  it('of one-byte chunks are taken in without an object for each', async () => {
    const socket = send({ 'transfer-encoding': 'chunked' }, '/v1/tools/Sandbox.WriteFile');
    const { ms } = await longestTurn(async () => {
      socket.write('1\r\nx\r\n'.repeat(300_000));
      await sleep(1_000);
    });
    expect(ms).toBeLessThan(100);
    expect((await beside()).status).toBe(200);
  });

  it('of as many entries as a body may have are refused without a fault for each', async () => {
    const labels = Object.fromEntries(Array.from({ length: 4_097 }, (_, at) => [`k${at}`, 1]));
    const { ms, result } = await longestTurn(() =>
      http.call('Sandbox.SetSandboxLabels', { sandbox: 'a', labels }),
    );
    expect(await result.json()).toMatchObject({
      code: 'invalid_argument',
      parameter: 'labels',
      detail: 'labels has 4097 entries; no parameter has more than 4096.',
    });
    expect(ms).toBeLessThan(100);
  });
});

describe('answers', () => {
  it('are cut when nobody reads them, and others are served meanwhile', async () => {
    http.files.set('large', { content: Buffer.alloc(16_000_000, 1), mode: 0o644 });
    const body = JSON.stringify({ sandbox: 'a', path: 'large' });
    const before = await settledMemory();
    const skip = skippableTime();
    const readers: Socket[] = [];
    for (let at = 0; at < 4; at++) {
      const socket = send({ 'content-length': body.length }, '/v1/tools/Sandbox.ReadFile');
      socket.write(body);
      readers.push(socket);
    }
    // Each takes the first bytes, and no more.
    await Promise.all(readers.map((socket) => once(socket.pause(), 'readable')));
    for (const socket of readers) socket.pause();
    // Four answers of 96 MB each, as text.
    expect(standingMemory() - before).toBeLessThan(150 * MiB);
    expect((await beside()).status).toBe(200);
    await skip(STALLED_READER_MS + 2 * STALLED_READER_CHECK_MS);
    for (const socket of readers) {
      socket.resume();
      await expect.poll(() => socket.destroyed, { timeout: 10_000 }).toBe(true);
      expect(socket.bytesRead).toBeLessThan(96_000_000);
    }
  }, 60_000);

  it('are whole for who reads them, as JSON and as events', async () => {
    const content = Buffer.from(`${'\u0001é"\n😀'.repeat(300_000)}`);
    http.files.set('large', { content, mode: 0o644 });
    const parameters = { sandbox: 'a', path: 'large' };
    const answer = await http.call('Sandbox.ReadFile', parameters);
    const plain = (await answer.json()) as { content: string };
    expect(plain.content === content.toString()).toBe(true);
    const events = await http.call('Sandbox.ReadFile', parameters, { accept: 'text/event-stream' });
    const data = /event: result\ndata: (.*)\n\n$/s.exec(await events.text())?.[1] ?? '';
    expect(JSON.parse(data).content === content.toString()).toBe(true);
  });
});

describe('connections', () => {
  it('of strangers are 768; a member always gets one more', async () => {
    for (let at = 0; at < 800; at++) open();
    await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length, { timeout: 5_000 }).toBe(32);
    // The oldest go.
    expect(sockets.slice(0, 32).every(({ destroyed }) => destroyed)).toBe(true);
    expect((await beside()).status).toBe(200);
  });

  it('of one member are 512, and count as no stranger any more', async () => {
    const idle = async () => {
      const socket = send({ 'content-length': 2 });
      socket.write('{}');
      return statusOf(socket);
    };
    for (let at = 0; at < 16; at++) {
      expect(new Set(await Promise.all(Array.from({ length: 32 }, idle)))).toEqual(new Set([200]));
    }
    expect(await idle()).toBe(429);
    expect((await beside()).status).toBe(200);
    for (let at = 0; at < 800; at++) open();
    const strangersCut = () => sockets.slice(512).filter(({ destroyed }) => destroyed).length;
    await expect.poll(strangersCut, { timeout: 5_000 }).toBeGreaterThanOrEqual(32);
    expect(sockets.slice(0, 512).some(({ destroyed }) => destroyed)).toBe(false);
  }, 30_000);
});
