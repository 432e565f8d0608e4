/** A service that is not what it claims: the bridge passes nothing but messages on, and nothing makes it grow. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bounds, bounds } from '../../packages/mcp/src/bounds.ts';
import { runBridge } from '../../packages/mcp/src/bridge.ts';

const small: Bounds = { ...bounds, requestBytes: 2_000, answerBytes: 20_000, roomBytes: 30_000, requests: 3 };
const answer = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result: { done: id } });
const event = (data: string) => `event: message\ndata: ${data}\n\n`;

type Serve = (message: { id?: unknown; method?: string }, response: ServerResponse) => void;

let server: Server;
let serve: Serve;
let received: { id?: unknown; method?: string }[];
let closed: unknown[];
let stdin: PassThrough;
let stdout: PassThrough;
let lines: string[];
let log: string;
let stop: AbortController;
let ended: Promise<number> | null;

beforeEach(async () => {
  received = [];
  closed = [];
  lines = [];
  log = '';
  ended = null;
  stdin = new PassThrough();
  stdout = new PassThrough();
  stop = new AbortController();
  server = createServer(async (request, response) => {
    const message = JSON.parse(await textOf(request));
    received.push(message);
    response.once('close', () => closed.push(message.id));
    serve(message, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  stop.abort();
  await ended;
  server.closeAllConnections();
  server.close();
});

it('the bounds of the bridge take what the service takes and gives', () => {
  expect(bounds).toEqual({
    ...{ requestBytes: 25_165_824, answerBytes: 134_217_728, roomBytes: 268_435_456, requests: 128 },
    ...{ refusalBytes: 65_536, textChars: 2_000, keyBytes: 1_024 },
    ...{ beginMs: 270_000, silenceMs: 60_000 },
  });
});

describe('a hostile service', () => {
  it.each([
    ['garbage', event('{"jsonrpc":')],
    ['a message of nothing', event('{}')],
    ['a list of messages', event(`[${answer(1)}]`)],
    ['the answer of another request', event(answer(2))],
    ['the answer under another type of id', event(answer('1'))],
    ['too many values', event(`[${'[],'.repeat(5_000_001)}[]]`)],
  ])('gets %s refused', async (_what, text) => {
    run({ ...bounds });
    serve = (_message, response) => sse(response).end(text);
    send({ id: 1, method: 'tools/call' });
    await expect.poll(() => lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      ...{ jsonrpc: '2.0', id: 1 },
      result: { isError: true, structuredContent: { error: { code: 'unavailable' } } },
    });
    expect(log).toMatch(/^sandhaven-mcp: The service at http:\S+ sent what is no message of MCP\./);
  });

  it.each([
    ['an endless line', 'data: "', 'x'.repeat(1_000)],
    ['an endless event', '', `data: ${'x'.repeat(100)}\n`],
    ['an event of empty lines without end', '', 'data:\n'.repeat(100)],
  ])('with %s ends its own request alone', async (_what, beginning, piece) => {
    run(small);
    serve = ({ id }, response) => {
      sse(response);
      if (id === 2) response.end(event(answer(2)));
      else pour(response, beginning, piece);
    };
    send({ id: 1, method: 'tools/list' });
    await expect.poll(() => lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 1, error: { data: { code: 'too_large' } } });
    await expect.poll(() => closed).toEqual([1]);
    send({ id: 2, method: 'tools/list' });
    await expect.poll(() => lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? '')).toEqual({ jsonrpc: '2.0', id: 2, result: { done: 2 } });
  });

  it('that refuses without end is read to the bound', async () => {
    run(small);
    serve = (_message, response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      pour(response, '', ' '.repeat(10_000));
    };
    send({ id: 1, method: 'tools/list' });
    await expect.poll(() => closed).toEqual([1]);
    await expect.poll(() => lines).toHaveLength(1);
  });

  it.each([
    ['before its answer', { beginMs: 50 }, 'it did not begin to answer in time'],
    ['amid its answer', { silenceMs: 50 }, 'it fell silent'],
  ])('that is silent %s is given up', async (_when, short, message) => {
    run({ ...bounds, ...short });
    serve = (_message, response) => {
      if ('silenceMs' in short) sse(response).write(': soon\n\n');
    };
    send({ id: 1, method: 'tools/list' });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toContain(message);
  });

  it('that ends its answer too early is named', async () => {
    run(small);
    serve = (_message, response) => sse(response).end('data: {"jsonrpc":"2.0"');
    send({ id: 1, method: 'tools/list' });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toContain('its answer ended too early');
  });

  it('waits for a client that does not read', async () => {
    run(small, false);
    let written = 0;
    serve = (_message, response) => {
      const progress = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { text: 'x'.repeat(5_000) },
      };
      pour(sse(response), '', event(JSON.stringify(progress)), (bytes) => {
        written += bytes;
      });
    };
    send({ id: 1, method: 'tools/list' });
    await expect.poll(() => stdout.readableLength).toBeGreaterThan(10_000);
    let before = -1;
    // The pipes between fill up, and then nothing moves.
    await expect
      .poll(
        () => {
          const still = written === before;
          before = written;
          return still;
        },
        { interval: 500 },
      )
      .toBe(true);
    expect(stdout.readableLength).toBeLessThan(100_000);
  });
});

describe('a client', () => {
  it('gets answers to lines that are no messages, and goes on', async () => {
    run(small);
    serve = ({ id }, response) => sse(response).end(event(answer(id)));
    stdin.write(`${'x'.repeat(2_001)}\nnothing\n[]\n\n`);
    send({ id: 'a', method: 'ping' });
    await expect.poll(() => lines).toHaveLength(4);
    expect(lines.map((line) => JSON.parse(line)).slice(0, 3)).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The line is longer than 2000 bytes.' } },
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The line is no message of JSON-RPC.' } },
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The line is no message of JSON-RPC.' } },
    ]);
  });

  it('has as many requests in progress as there is room for, and each id once', async () => {
    run(small);
    serve = () => {};
    send({ id: 1, method: 'a' });
    send({ id: 1, method: 'a' });
    await expect.poll(() => lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '').error.message).toBe('A request with this id is in progress.');
    send({ id: '1', method: 'a' }, { id: 3, method: 'a' }, { id: 4, method: 'a' });
    await expect.poll(() => lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ id: 4, error: { code: -32000 } });
  });

  it('that cancels gets no answer, and its request is closed', async () => {
    run(small);
    serve = ({ id, method }, response) => {
      if (method === 'notifications/cancelled') response.writeHead(202).end();
      else if (id === 2) sse(response).end(event(answer(2)));
    };
    send({ id: 1, method: 'tools/call' });
    await expect.poll(() => received).toHaveLength(1);
    send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await expect.poll(() => closed).toContain(1);
    await expect.poll(() => received.map(({ method }) => method)).toContain('notifications/cancelled');
    send({ id: 2, method: 'tools/list' });
    await expect.poll(() => lines).toEqual([answer(2)]);
    expect(log).toBe('');
  });
});

/** @param reads Whether the client reads what comes. */
function run(given: Bounds, reads = true): void {
  if (reads) {
    let rest = '';
    stdout.on('data', (chunk) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
  }
  const stderr = new PassThrough();
  stderr.on('data', (chunk) => {
    log += chunk;
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const options = { url, key: 'shv_key', team: undefined };
  ended = runBridge(options, given, { stdin, stdout, stderr, signal: stop.signal });
}

function send(...messages: object[]): void {
  for (const message of messages) stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function sse(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** Writes as long as anybody reads. */
function pour(
  response: ServerResponse,
  beginning: string,
  piece: string,
  wrote: (bytes: number) => void = () => {},
): void {
  response.write(beginning === '' ? ': begin\n' : beginning);
  const more = () => {
    while (!response.destroyed) {
      wrote(piece.length);
      if (!response.write(piece)) break;
    }
  };
  response.on('drain', more);
  more();
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
