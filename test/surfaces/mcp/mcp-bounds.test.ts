/** What an MCP client may send and be sent: bounded before it is parsed, and piece by piece. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JsonScan } from '../../../src/model/json-bounds.ts';
import type { JsonBodies } from '../../../src/surfaces/json/bodies.ts';
import { Envelope, McpArrivals } from '../../../src/surfaces/mcp/arrivals.ts';
import { LargeParts } from '../../../src/surfaces/mcp/large-parts.ts';
import { longestTurn } from '../../support/event-loop.ts';
import { McpHost, MODERN } from './mcp-host.ts';

const LARGE_ANSWER_BYTES = 256 * 1024;

const MiB = 1024 * 1024;
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

let host: McpHost;

beforeAll(async () => {
  host = new McpHost();
  await host.listen();
});

afterAll(() => host.close());

const post = (body: string | Buffer<ArrayBuffer>, own: Record<string, string> = {}) =>
  fetch(host.url, { method: 'POST', headers: { ...headers, ...own }, body });

const call = (_meta: unknown, args: unknown = {}) =>
  JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { _meta, name: 'Sandbox_WhoAmI', arguments: args },
  });

describe('a message', () => {
  it('of 24 MB of small objects is refused before they are made, in under 100 ms', async () => {
    const objects = `[${'{},'.repeat(8_000_000)}0]`;
    const body = Buffer.from(call({ x: 0 }).replace('"x":0', `"x":${objects}`));
    expect(body.length).toBeGreaterThan(24_000_000);
    const heap = process.memoryUsage().heapUsed;
    // The client may find the connection closed before it has sent all.
    const { ms, result } = await longestTurn(() => post(body).catch(() => null));
    expect(result?.status ?? 413).toBe(413);
    expect(ms).toBeLessThan(100);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(64 * MiB);
  });

  it('has at most 1,000 keys and values besides the arguments of its tool', async () => {
    const refused = await post(call({ x: Array(1_001).fill(0) }));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      code: 'too_large',
      detail: 'The message has more than 1000 keys and values besides the arguments of its tool.',
    });
    expect((await post(call({ x: Array(900).fill(0) }))).status).toBe(200);
    expect((await post(call({}, { x: Array(2_000).fill(0) }))).status).toBe(200);
  });

  it('has at most 64 KiB besides the arguments of its tool', async () => {
    const text = 'x'.repeat(65_536);
    const refused = await post(call({ text }));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      code: 'too_large',
      detail: 'The message has more than 65536 bytes besides the arguments of its tool.',
    });
    expect((await post(call({ text: 'x'.repeat(65_000) }))).status).toBe(200);
    expect((await post(call({}, { text: text.repeat(10) }))).status).toBe(200);
  });
});

describe('the arguments of a tool are distinguished from the rest of a message', () => {
  const large = JSON.stringify('x'.repeat(70_000));
  const judge = (text: string, chunkBytes = 1_000) => {
    const body = Buffer.from(text);
    const envelope = new Envelope();
    const scan = new JsonScan({ nodes: 10_000, nodesAndKeys: 10_000, depth: 64 }, envelope);
    for (let at = 0; at < body.length; at += chunkBytes) {
      scan.push(body.subarray(at, at + chunkBytes));
      envelope.assertSmall(scan);
    }
  };

  it.each([
    ['an object', `{"id":1,"params":{"name":"a","arguments":{"x":${large}}}}`],
    ['before other parameters', `{"params":{"arguments":{"x":[${large}]},"_meta":{}},"id":1}`],
    ['a text', `{"params":{"arguments":${large}}}`],
    ['each of a batch', `[{"params":{"arguments":{"x":${large}}}},{"params":{"arguments":[${large}]}}]`],
  ])('%s', (_what, text) => {
    for (const chunkBytes of [7, 1_000, 1_000_000]) expect(() => judge(text, chunkBytes)).not.toThrow();
  });

  it.each([
    ['arguments of no parameters', `{"arguments":{"x":${large}}}`],
    ['arguments of something else', `{"_meta":{"arguments":${large}}}`],
    ['arguments further in', `{"params":{"_meta":{"arguments":${large}}}}`],
    ['parameters further in', `{"x":{"params":{"arguments":${large}}}}`],
    ['parameters in a list', `{"params":[{"arguments":${large}}]}`],
    ['what comes after them', `{"params":{"arguments":{"x":1},"_meta":${large}}}`],
    ['what comes after their message', `{"params":{"arguments":{}},"arguments":${large}}`],
    ['a text that reads like them', `{"params":{"x":"arguments","y":${large}}}`],
    ['a longer name', `{"params":{"arguments_":${large}}}`],
  ])('%s is not arguments', (_what, text) => {
    for (const chunkBytes of [7, 1_000, 1_000_000]) {
      expect(() => judge(text, chunkBytes)).toThrow(expect.objectContaining({ code: 'too_large' }));
    }
  });
});

describe('streams that wait for news', () => {
  it('are 32 of one member, and one that ends makes room', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} };
    const bodies = { read: async () => body } as unknown as JsonBodies;
    const arrivals = new McpArrivals(bodies);
    const listen = (owner: string) => {
      const response = new EventEmitter() as unknown as ServerResponse;
      return arrivals.bodyOf({ method: 'POST' } as IncomingMessage, response, owner).then(() => response);
    };
    const open = await Promise.all(Array.from({ length: 32 }, () => listen('mallory')));
    await expect(listen('mallory')).rejects.toMatchObject({ code: 'resource_exhausted' });
    await listen('alice');
    open[0]?.emit('close');
    await listen('mallory');
  });
});

describe('a large result', () => {
  it('comes back whole', async () => {
    const client = await host.connect(MODERN);
    const result = await client.callTool({
      name: 'Sandbox_ReadFile',
      arguments: { sandbox: 'a', path: 'b' },
    });
    const { content } = result.structuredContent as { content: string };
    expect(content).toBe('x'.repeat(1_000_000));
  });

  it('passes the SDK as tokens, which become it again', () => {
    const large = new LargeParts();
    const data = 'QUJD'.repeat(LARGE_ANSWER_BYTES / 4);
    const result = {
      structuredContent: { charts: [{ png: data }], note: 'a "quoted" note' },
      content: [
        { type: 'text' as const, text: 'short' },
        { type: 'image' as const, data, mimeType: 'image/png' },
      ],
    };
    const sent = JSON.stringify({ jsonrpc: '2.0', result: large.takeOut(result) });
    expect(sent.length).toBeLessThan(1_000);
    expect(JSON.parse([...large.putBack(sent)].join(''))).toEqual({ jsonrpc: '2.0', result });
  });

  it('is left as it is where it is small', () => {
    const large = new LargeParts();
    const result = { structuredContent: { ok: true }, content: [{ type: 'text' as const, text: 'ok' }] };
    expect(large.takeOut(result)).toEqual(result);
    const data = 'QUJD'.repeat(LARGE_ANSWER_BYTES / 4 - 1);
    const small = { content: [{ type: 'image' as const, data, mimeType: 'image/png' }] };
    expect(large.takeOut(small)).toEqual(small);
    expect(large.isEmpty).toBe(true);
  });
});
