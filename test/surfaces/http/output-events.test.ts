/** Output of programs as events, while they run. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveOutput, LivePiece } from '../../../src/control/ports/index.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { showing } from '../fakes/showing.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;
let show: (live: LiveOutput) => Promise<void> = async () => {};
/** Of the last call; undefined for a client that sees no live output. */
let given: LiveOutput | undefined;

beforeAll(async () => {
  http = await startHttp();
  showing(http.services, 'all of it\n', async (live) => {
    given = live;
    if (live) await show(live);
  });
});

afterAll(() => http.close());

const piece = (stream: LivePiece['stream'], content: string | Buffer, leftOutBytes: number): LivePiece => ({
  stream,
  bytes: Buffer.from(content),
  leftOutBytes,
});
const out = (content: string | Buffer, leftOutBytes = 0) => piece('stdout', content, leftOutBytes);
const err = (content: string | Buffer, leftOutBytes = 0) => piece('stderr', content, leftOutBytes);

interface Event {
  event: string;
  data: { text: string; base64?: string; left_out_bytes?: number };
}

function eventsIn(text: string): Event[] {
  const found = text.matchAll(/^event: (\w+)\ndata: (.*)$/gm);
  return [...found].map(([, event = '', data = '']) => ({ event, data: JSON.parse(data) }));
}

async function eventsOf(tool: string, parameters: object): Promise<Event[]> {
  const response = await http.call(tool, parameters, { accept: 'text/event-stream' });
  return eventsIn(await response.text());
}

/** Calls with a connection that reads nothing yet. */
async function pausedCall(query: string): Promise<Socket> {
  const socket = connect(http.port, '127.0.0.1');
  await once(socket, 'connect');
  const body = JSON.stringify({ command: 'yes' });
  socket
    .pause()
    .write(
      `POST /v1/tools/Sandbox.RunCommand${query} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${API_KEY}\r\n` +
        `content-type: application/json\r\naccept: text/event-stream\r\ncontent-length: ${body.length}\r\n` +
        `connection: close\r\n\r\n${body}`,
    );
  return socket;
}

async function eventsOn(socket: Socket): Promise<Event[]> {
  let answer = '';
  for await (const bytes of socket.setEncoding('utf8')) answer += bytes;
  return eventsIn(answer.replaceAll(/\r\n[0-9a-f]+\r\n/g, ''));
}

describe('output events', () => {
  it.each([
    ['Sandbox.RunCommand', { command: 'make' }],
    ['Sandbox.RunCode', { code: 'make()' }],
    ['Sandbox.RunSessionCommand', { session_id: 's', command: 'make' }],
  ])('%s sends what is printed as it comes, then the result as ever', async (tool, parameters) => {
    show = async (live) => {
      live.show(out('one\n'));
      await sleep(10);
      live.show(err('é\n', 5));
    };
    const events = await eventsOf(tool, parameters);
    expect(events).toEqual([
      { event: 'output', data: { stream: 'stdout', text: 'one\n' } },
      { event: 'output', data: { stream: 'stderr', text: 'é\n', left_out_bytes: 5 } },
      { event: 'result', data: expect.objectContaining({ output: 'all of it\n', exit_code: 0 }) },
    ]);
    const plain = await (await http.call(tool, parameters)).json();
    expect(plain).toEqual(events.at(-1)?.data);
    expect(given).toBeUndefined();
  });

  it('come while the program runs', async () => {
    const go = Promise.withResolvers<void>();
    show = (live) => {
      live.show(out('first\n'));
      return go.promise;
    };
    const accept = { accept: 'text/event-stream' };
    const response = await http.call('Sandbox.RunCommand', { command: 'make' }, accept);
    let seen = '';
    for await (const bytes of response.body ?? []) {
      seen += Buffer.from(bytes).toString();
      if (seen.includes('first')) go.resolve();
    }
    expect(eventsIn(seen).map(({ event }) => event)).toEqual(['output', 'result']);
  });

  it('name at the end what was left out last', async () => {
    show = async (live) => void live.show(out('', 7));
    expect((await eventsOf('Sandbox.RunCommand', { command: 'make' }))[0]?.data).toEqual({
      ...{ stream: 'stdout', text: '', left_out_bytes: 7 },
    });
  });

  it('of a client that does not read are left out and counted, and hold no memory', async () => {
    const pieces = 4_000;
    const text = 'x'.repeat(16_384);
    const read = Promise.withResolvers<void>();
    let response: ServerResponse | undefined;
    let heldBytes = 0;
    http.server.once('request', (_request, its: ServerResponse) => {
      response = its;
    });
    show = async (live) => {
      for (let sent = 0; sent < pieces; sent++) {
        live.show(out(text));
        heldBytes = Math.max(heldBytes, response?.writableLength ?? Infinity);
        await setImmediate();
      }
      read.resolve();
      await sleep(50);
    };
    const socket = await pausedCall('');
    await read.promise;
    expect(heldBytes).toBeLessThan(100_000);
    const events = await eventsOn(socket);
    const shown = events.filter(({ event }) => event === 'output').map(({ data }) => data);
    const bytes = shown.reduce((sum, one) => sum + one.text.length + (one.left_out_bytes ?? 0), 0);
    expect(bytes).toBe(pieces * 16_384);
    expect(shown.some((one) => (one.left_out_bytes ?? 0) > 0)).toBe(true);
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { output: 'all of it\n' } });
  });
});

describe('output events of a client that asks for bytes', () => {
  it('have all bytes as they are, none of them a character, and a gap beside them', async () => {
    show = async (live) => {
      expect(live.whole).toBe(true);
      live.show(out(Buffer.from([0xe2, 0x82])));
      live.show(out(Buffer.from([0xac, 0xff, 0x00])));
      live.show(err('é', 5));
      live.show(out('', 7));
    };
    const accept = { accept: 'text/event-stream' };
    const response = await http.call('Sandbox.RunCommand?output=bytes', { command: 'make' }, accept);
    expect(eventsIn(await response.text())).toEqual([
      { event: 'output', data: { stream: 'stdout', base64: '4oI=' } },
      { event: 'output', data: { stream: 'stdout', base64: 'rP8A' } },
      { event: 'output', data: { stream: 'stderr', base64: 'w6k=', left_out_bytes: 5 } },
      { event: 'output', data: { stream: 'stdout', base64: '', left_out_bytes: 7 } },
      { event: 'result', data: expect.objectContaining({ output: 'all of it\n', exit_code: 0 }) },
    ]);
  });

  it('wait for it while it reads nothing, and none is lost', async () => {
    let shownBytes = 0;
    let waits = 0;
    const waiting = Promise.withResolvers<void>();
    show = async (live) => {
      for (let sent = 0; sent < 2_000; sent++) {
        const room = live.show(out(Buffer.alloc(16_384, sent)));
        shownBytes += 16_384;
        if (!room) continue;
        waits += 1;
        waiting.resolve();
        await room;
      }
    };
    const socket = await pausedCall('?output=bytes');
    await waiting.promise;
    await sleep(200);
    // What the kernel takes of it, and the bound.
    expect(shownBytes).toBeLessThan(16_000_000);
    const events = await eventsOn(socket);
    const shown = events.filter(({ event }) => event === 'output').map(({ data }) => data);
    expect(shown).toHaveLength(2_000);
    for (const [sent, { base64 }] of shown.entries())
      expect(base64).toBe(Buffer.alloc(16_384, sent).toString('base64'));
    expect(waits).toBeGreaterThan(100);
    expect(events.at(-1)?.event).toBe('result');
  });

  it('wait no longer for one that leaves', async () => {
    const ended = Promise.withResolvers<void>();
    show = async (live) => {
      for (let sent = 0; sent < 2_000; sent++) await live.show(out(Buffer.alloc(16_384)));
      ended.resolve();
    };
    const socket = await pausedCall('?output=bytes');
    await sleep(100);
    socket.destroy();
    await ended.promise;
  });

  it('are its only choice', async () => {
    const response = await http.call('Sandbox.RunCommand?output=all', { command: 'make' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_argument', parameter: 'output' });
  });
});
