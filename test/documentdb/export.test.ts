/** Results that are too large to be held, from a real server. */
import type { ObjectId } from 'mongodb';
import { describe, expect, it, vi } from 'vitest';
import type { ExportedQuery } from '../../src/control/ports/index.ts';
import { leaveCursorOpen, startProxy } from './connection/proxy.ts';
import { connectionStringAt, connectTo, plainOptions, useTestDatabase } from './server.ts';

const CHUNK_BYTES = 128 * 1024;

const count = 20_000;

const database = useTestDatabase({
  events: Array.from({ length: count }, (_, index) => ({
    _id: index as unknown as ObjectId,
    kind: index % 2 === 0 ? 'even' : 'odd',
    text: 'é\n"'.repeat(100),
  })),
});

const byId = ['{"field": "_id", "direction": 1}'];

async function read({ lines }: ExportedQuery): Promise<{ chunks: Uint8Array[]; values: { _id: number }[] }> {
  const chunks = await all(lines);
  const text = Buffer.concat(chunks).toString();
  expect(text.endsWith('\n')).toBe(true);
  const values = text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as { _id: number });
  return { chunks, values };
}

async function all(lines: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of lines) chunks.push(chunk);
  return chunks;
}

describe('an export', () => {
  it('gives every document of a find as a line of its own, without a limit, in pieces', async () => {
    const request = { database: database.name, collection: 'events', sort: byId, skip: 0 };
    const exported = await database.documents.find(request).export(plainOptions);
    expect([exported.count, exported.bytes]).toEqual([0, 0]);
    const { chunks, values } = await read(exported);
    expect(values.map(({ _id }) => _id)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(exported.count).toBe(count);
    expect(exported.bytes).toBe(chunks.reduce((bytes, chunk) => bytes + chunk.length, 0));
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk.length).toBeGreaterThanOrEqual(CHUNK_BYTES);
      expect(chunk.length).toBeLessThan(CHUNK_BYTES + 4_096);
    }
    expect(exported).toMatchObject({ fields: ['_id', 'kind', 'text'], hasMore: false });
  });

  it('holds to a limit, a filter, a projection and what is skipped', async () => {
    const request = { database: database.name, collection: 'events', sort: byId, skip: 5, limit: 1_500 };
    const options = { filter: '{"kind": "odd"}', projection: '{"kind": 1}' };
    const exported = await database.documents.find({ ...request, ...options }).export(plainOptions);
    const { values } = await read(exported);
    expect(values).toEqual(Array.from({ length: 1_500 }, (_, n) => ({ _id: 11 + 2 * n, kind: 'odd' })));
    expect(exported).toMatchObject({ count: 1_500, fields: ['_id', 'kind'], hasMore: true });
  });

  it('ends where its limit does, though the server leaves the cursor open', async () => {
    const proxy = await startProxy();
    let opened = 0;
    proxy.rewriteAnswer = (data) => {
      if (leaveCursorOpen(data)) opened++;
      return data;
    };
    const documents = connectTo(connectionStringAt(proxy.port));
    const request = { database: database.name, collection: 'events', sort: byId, skip: 0, limit: 3 };
    const exported = await documents.find({ ...request, projection: '{"_id": 1}' }).export(plainOptions);
    const { values } = await read(exported);
    expect(values).toEqual([{ _id: 0 }, { _id: 1 }, { _id: 2 }]);
    expect(opened).toBe(1);
    expect(proxy.sent()).not.toContain('getMore');
  });

  it('gives the documents of a pipeline, all or no more than the limit', async () => {
    const pipeline = ['{"$sort": {"_id": 1}}', '{"$project": {"kind": 1}}'];
    const request = { database: database.name, collection: 'events', pipeline };
    const whole = await database.documents.aggregate(request).export(plainOptions);
    expect((await read(whole)).values).toHaveLength(count);
    const some = await database.documents.aggregate({ ...request, limit: 7 }).export(plainOptions);
    expect((await read(some)).values.map(({ _id }) => _id)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('of nothing is no line', async () => {
    const request = { database: database.name, collection: 'events', filter: '{"_id": -1}', skip: 0 };
    const exported = await database.documents.find(request).export(plainOptions);
    expect(await all(exported.lines)).toEqual([]);
    expect([exported.count, exported.bytes, exported.fields]).toEqual([0, 0, []]);
  });

  it('fails before its first line where the query does', async () => {
    const pipeline = ['{"$project": {"x": {"$divide": ["$_id", 0]}}}'];
    const query = database.documents.aggregate({ database: database.name, collection: 'events', pipeline });
    await expect(query.export(plainOptions)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('asks for no more than one round trip ahead of a reader that waits', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const request = { database: database.name, collection: 'events', sort: byId, skip: 0 };
    const { lines } = await documents.find(request).export(plainOptions);
    const asked = () => proxy.sent().split('getMore').length - 1;
    const iterator = lines[Symbol.asyncIterator]();
    await iterator.next();
    await vi.waitUntil(() => asked() === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(asked()).toBe(1);
    await iterator.return?.();
    await vi.waitUntil(() => proxy.sent().includes('killCursors'));
  });
});
