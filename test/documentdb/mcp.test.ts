/** Results that are large or long in coming, to an MCP client. */
import {
  type CallToolResult,
  type Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { must } from '../support/service.ts';
import { createClient } from '../surfaces/mcp/mcp-host.ts';
import { openProxy } from './connection/proxy.ts';
import { cursorsRead, expectForgotten } from './queries/cursors.ts';
import { connectionStringAt, useTestDatabase } from './server.ts';
import { type Parameters, useService } from './service.ts';

const TEXT_CHARS = 16 * 1024;

/** A result of a MiB is 60 of its documents; a pipeline makes 300 MB of them. */
const database = useTestDatabase({
  some: Array.from({ length: 100 }, (_, index) => ({ _id: index as never, pad: 'x'.repeat(16_000) })),
});
const some = { database_name: database.name, collection_name: 'some' };
const large = ['{"$addFields": {"n": {"$range": [0, 200]}}}', '{"$unwind": "$n"}'];
const target = { save_to_sandbox: 'target', save_to_path: 'some.jsonl' };
const SECOND_ANSWER_BYTES = 24_000_000;

const proxy = await openProxy();
const documents = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: connectionStringAt(proxy.port) }));

beforeAll(async () => {
  await must(documents.service, 'CreateSandbox', { name: 'target', cpu: 1, memory_gb: 1, disk_gb: 1 });
  await documents.explore(database.name, ['some']);
}, 120_000);
afterAll(() => proxy.close());

async function connect(revision = '2025-11-25'): Promise<Client> {
  const { url, apiKey } = documents.service;
  const client = createClient(revision);
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

const calling = (name: string, parameters: Parameters) => ({ name, arguments: { ...some, ...parameters } });

function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const sort = ['{"field": "_id", "direction": 1}'];

it('[WIRE-DB-09] [WIRE-DB-10] a result beyond a MiB is whole in structuredContent, and short as text', async () => {
  const client = await connect();
  const result = await client.callTool(calling('DocumentDb_FindDocuments', { sort }));
  const { result: texts, ...rest } = result.structuredContent as { result: string[] };
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  expect(bytes).toBeGreaterThan(1.5 * 2 ** 20);
  expect(texts.map((text) => JSON.parse(text)._id)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(rest).toEqual({ returned: 100, has_more: false });
  expect(textOf(result).length).toBeLessThan(TEXT_CHARS + 100);
  expect(textOf(result)).toMatch(/^100 documents\.\n\{"_id":0,/);
  expect(textOf(result)).toContain('; structuredContent has all; ask for a smaller limit …');
});

it('[WIRE-DB-10] bytes end a result where the caller asked for fewer, and the text shows how to go on', async () => {
  const client = await connect();
  const asked = { sort, max_bytes: 2 ** 20 };
  const result = await client.callTool(calling('DocumentDb_FindDocuments', asked));
  expect(result.structuredContent).toMatchObject({
    returned: 65,
    has_more: true,
    next: { filter_dict: '{"_id":{"$gt":64}}' },
    notes: [expect.stringContaining('Ended at 1048576 bytes')],
  });
  expect(textOf(result)).toMatch(
    /^65 documents\. has_more: there are more\. next: \{"filter_dict":"\{\\"_id\\":\{\\"\$gt\\":64\}\}"\}\nNote: Ended at 1048576 bytes/,
  );
});

it('[WIRE-DB-21] a saved result names its file and its fields, and shows no document', async () => {
  const client = await connect();
  const path = { save_to_path: 'said.jsonl' };
  const result = await client.callTool(
    calling('DocumentDb_FindDocuments', { ...target, ...path, projection: '{"_id": 1}' }),
  );
  expect(result.structuredContent).toEqual({
    result: [],
    returned: 0,
    has_more: false,
    saved: { sandbox: 'target', path: 'said.jsonl', count: 100, size_bytes: 1_090, fields: ['_id'] },
  });
  expect(textOf(result)).toBe(
    "100 documents (1090 bytes) saved in said.jsonl of sandbox 'target', a JSON line each. Fields: _id.",
  );
});

it('[WIRE-MCP-08] a long save reports its progress', async () => {
  const client = await connect();
  const told: { progress: number; message?: string | undefined }[] = [];
  const result = await client.callTool(
    calling('DocumentDb_AggregateDocuments', {
      ...target,
      pipeline: large,
      limit: 5_000,
      save_to_path: 'long.jsonl',
    }),
    { onprogress: (progress) => told.push(progress), timeout: 120_000 },
  );
  expect(result.structuredContent).toMatchObject({ saved: { count: 5_000 } });
  const saved = told.filter(({ message }) => /^\d+ documents saved$/.test(message ?? ''));
  expect(saved.length).toBeGreaterThan(5);
  const counts = saved.map(({ progress }) => progress);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBeLessThanOrEqual(5_000);
}, 150_000);

describe.each(['2025-11-25', '2026-07-28'])(
  '[WIRE-MCP-09] a call that a client of %s cancels',
  (revision) => {
    it('in the middle of a save ends the cursor', async () => {
      const client = await connect(revision);
      const read = cursorsRead(proxy).length;
      const before = proxy.receivedBytes;
      const abort = new AbortController();
      const call = client.callTool(calling('DocumentDb_AggregateDocuments', { ...target, pipeline: large }), {
        signal: abort.signal,
        timeout: 120_000,
      });
      const ended = expect(call).rejects.toThrow(/enough/);
      // Bytes alone may be those of the call before, which has just been given up.
      const isSecond = () =>
        cursorsRead(proxy).length > read && proxy.receivedBytes > before + SECOND_ANSWER_BYTES;
      await vi.waitUntil(isSecond, { timeout: 60_000 });
      abort.abort('enough');
      await ended;
      const name = { database: database.name, collection: 'some' };
      await expectForgotten(proxy, database.client, cursorsRead(proxy).slice(read), name);
    }, 120_000);

    it('while the server computes its first answer ends the connection that it computes for', async () => {
      const client = await connect(revision);
      await client.callTool(calling('DocumentDb_CountDocuments', {}));
      const abort = new AbortController();
      const mark = `mark_${revision}_`;
      const slow = [
        `{"$match": {"${mark}": {"$exists": false}}}`,
        ...large,
        '{"$sort": {"pad": 1, "n": -1}}',
      ];
      const call = client.callTool(calling('DocumentDb_AggregateDocuments', { pipeline: slow }), {
        signal: abort.signal,
      });
      const ended = expect(call).rejects.toThrow(/enough/);
      await vi.waitUntil(() => proxy.sent().includes(mark), { timeout: 20_000, interval: 10 });
      const connected = proxy.connections;
      abort.abort('enough');
      await ended;
      await vi.waitUntil(() => proxy.connections < connected, { timeout: 20_000 });
    }, 60_000);
  },
);
