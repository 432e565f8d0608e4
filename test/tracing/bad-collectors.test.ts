/** Collectors that are dead, slow or broken: they cost spans, which are counted, and nothing else. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openTraces, type Traces } from '../../src/tracing/open.ts';
import { toNowhere } from './recorded-spans.ts';

const HEADERS = { authorization: 'Bearer canary-header' };

let server: Server | null = null;
let warnings: { message: string; context: Record<string, unknown> }[] = [];

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

async function tracesTo(answer: RequestListener | null): Promise<Traces> {
  server = createServer(answer ?? (() => {}));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  if (answer === null) server.close();
  warnings = [];
  const log = {
    warn: (message: string, context: Record<string, unknown> = {}) =>
      void warnings.push({ message, context }),
  };
  const options = { ...toNowhere, url: `http://127.0.0.1:${port}/v1/traces`, headers: HEADERS };
  return openTraces(options, { version: '1.2.3', log });
}

function makeSpans({ tracer }: Traces, count: number): void {
  for (let made = 0; made < count; made++) tracer.begin({ name: 'work', attributes: {} })?.end('ok');
}

function lost(): number {
  return warnings.reduce((sum, { context }) => sum + Number(context['spans']), 0);
}

describe('a collector', () => {
  it('gets the operator’s headers, and spans as JSON', async () => {
    const seen: unknown[] = [];
    const traces = await tracesTo((request, response) => {
      seen.push([
        request.method,
        request.url,
        request.headers.authorization,
        request.headers['content-type'],
      ]);
      request.resume().once('end', () => response.end('{}'));
    });
    makeSpans(traces, 1);
    await traces.close();
    expect(seen).toEqual([['POST', '/v1/traces', 'Bearer canary-header', 'application/json']]);
    expect(warnings).toEqual([]);
  });

  it.each<[string, RequestListener | null, string]>([
    ['is not there', null, 'ECONNREFUSED'],
    ['refuses', (_, response) => void response.writeHead(403).end('canary-answer'), 'HTTP status 403'],
    [
      'sends elsewhere',
      (_, response) => void response.writeHead(302, { location: '/x' }).end(),
      'HTTP status 302',
    ],
    ['breaks off', (_, response) => void response.destroy(), 'ECONNRESET'],
    ['answers nothing', () => {}, 'the collector did not answer in time'],
    ['answers for ever', drip, 'the collector did not answer in time'],
  ])('that %s loses the spans, with one warning', async (_, answer, reason) => {
    const traces = await tracesTo(answer);
    makeSpans(traces, 3);
    await traces.close();
    expect(warnings).toEqual([{ message: 'spans of traces were lost', context: { spans: 3, reason } }]);
    expect(JSON.stringify(warnings)).not.toContain('canary');
  });

  it('that answers garbage is one that took the spans', async () => {
    const traces = await tracesTo((request, response) => {
      request.resume().once('end', () => response.end(Buffer.alloc(1_000, 0xff)));
    });
    makeSpans(traces, 3);
    await traces.close();
    expect(warnings).toEqual([]);
  });

  it('that is too slow loses what the queue has no room for', async () => {
    const traces = await tracesTo(() => {});
    // 256 of them are under way, and 2,048 wait.
    makeSpans(traces, 2_404);
    await traces.close();
    expect(warnings[0]?.context).toMatchObject({ spans: 1 });
    expect(warnings).toHaveLength(2);
    expect(lost()).toBe(2_404);
  });
});

/** Sends its answer a byte at a time, so that the connection is never silent. */
const drip: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200);
  const timer = setInterval(() => response.write('x'), 50);
  response.once('close', () => clearInterval(timer));
};
