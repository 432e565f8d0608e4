/** A server that is away, restarts, is slow, or demands other credentials. */
import { EventEmitter } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectId } from 'mongodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { DocumentDatabase } from '../../../src/control/ports/index.ts';
import { limits } from '../../../src/model/limits.ts';
import {
  adminConnectionString,
  connectionStringAt,
  connectTo,
  plainOptions,
  readerConnectionString,
  serverAddress,
  useTestDatabase,
} from '../server.ts';
import { leaveCursorOpen, startProxy } from './proxy.ts';

const database = useTestDatabase({
  many: Array.from({ length: 3_000 }, (_, index) => ({
    _id: index as unknown as ObjectId,
    text: 'x'.repeat(1_000),
  })),
});

const byId = ['{"field": "_id", "direction": 1}'];

/** Hundreds of millions of documents on the way to a handful. */
const endless = [
  '{"$project": {"n": {"$range": [0, 100000]}}}',
  '{"$unwind": "$n"}',
  '{"$group": {"_id": "$n", "count": {"$sum": 1}}}',
  '{"$sort": {"count": 1}}',
];

function find(documents: DocumentDatabase, limit: number) {
  return documents.find({ database: database.name, collection: 'many', sort: byId, limit, skip: 0 });
}

function aggregateEndlessly(documents: DocumentDatabase) {
  return documents.aggregate({ database: database.name, collection: 'many', pipeline: endless });
}

it('a server that cannot draw a sample, and leaves its cursors open: the first documents are the sample', async () => {
  const proxy = await startProxy();
  let opened = 0;
  proxy.rewrite = (data) => {
    const stage = data.indexOf('$sample');
    if (stage !== -1) data.write('$simple', stage);
    return data;
  };
  proxy.rewriteAnswer = (data) => {
    // Of its documents, not of the catalogue.
    if (data.includes('xxxxxxxx') && leaveCursorOpen(data)) opened++;
    return data;
  };
  const documents = connectTo(connectionStringAt(proxy.port));
  const schema = await documents.schema({ database: database.name, collection: 'many' }, 3);
  expect(schema).toMatchObject({
    sampled: 3,
    sampleMethod: 'first',
    documentCount: 3_000,
    notes: [expect.stringContaining('could not draw')],
  });
  expect(opened).toBe(1);
});

describe('a server that cannot be reached', () => {
  it('accepts no connection: unavailable, and found again once it does', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    await proxy.cut();
    await expect(documents.databases()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('nothing accepts connections'),
    });
    await proxy.resume();
    expect((await documents.databases()).map(({ name }) => name)).toContain(database.name);
  });

  it('is older than the driver speaks with', async () => {
    const proxy = await startProxy();
    proxy.rewriteAnswer = (data) => {
      const version = data.indexOf('maxWireVersion\0');
      if (version !== -1) data.writeInt32LE(8, version + 'maxWireVersion\0'.length);
      return data;
    };
    await expect(connectTo(connectionStringAt(proxy.port)).databases()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('too old'),
      fields: { hint: expect.stringContaining('MongoDB 4.4') },
    });
  });

  it('has a name that nobody knows', async () => {
    for (const scheme of ['mongodb', 'mongodb+srv']) {
      const documents = connectTo(
        `${scheme}://someone:a-password@nowhere.invalid/?serverSelectionTimeoutMS=500`,
      );
      await expect(documents.databases(), scheme).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('host name'),
      });
    }
  });

  it('accepts connections and never answers', async () => {
    const proxy = await startProxy();
    proxy.silence();
    const documents = connectTo(connectionStringAt(proxy.port));
    await expect(documents.databases()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('does not answer'),
    });
  });

  it('is no database at all', async () => {
    const web = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void web.close());
    const documents = connectTo(connectionStringAt((web.address() as AddressInfo).port));
    await expect(documents.databases()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

/** That a socket is closed: later than the driver waits between two looks at a server. */
function announceLate(): void {
  const { emit } = EventEmitter.prototype;
  const announce = function (this: Socket, event: string, ...args: unknown[]) {
    if (event !== 'close' || args[0]) return emit.call(this, event, ...args);
    setTimeout(() => emit.call(this, event, ...args), 1_500);
    return true;
  };
  const spy = vi.spyOn(Socket.prototype, 'emit').mockImplementation(announce);
  onTestFinished(() => spy.mockRestore());
}

describe('a server that restarts', () => {
  it('between two calls is not noticed', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const before = await find(documents, 3).run(plainOptions);
    await proxy.cut();
    await proxy.resume();
    expect(await find(documents, 3).run(plainOptions)).toEqual(before);
  });

  it('in the middle of a cursor: a result that nobody has seen yet is read anew', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const running = find(documents, 3_000).run({ ...plainOptions, maxBytes: 2 ** 24 });
    await vi.waitUntil(() => proxy.sent().includes('getMore'), { interval: 1, timeout: 10_000 });
    await proxy.cut();
    await proxy.resume();
    const { documents: found, hasMore } = await running;
    expect([found.length, new Set(found).size, hasMore]).toEqual([3_000, 3_000, false]);
  });

  it('is found again when the driver waits on a socket that is gone', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const running = aggregateEndlessly(documents).run(plainOptions);
    const failed = expect(running).rejects.toMatchObject({ code: 'unavailable' });
    await vi.waitUntil(() => proxy.sent().includes('aggregate'), { interval: 1 });
    announceLate();
    await proxy.cutUnevenly();
    await failed;
    await proxy.resume();
    expect((await find(documents, 3).run(plainOptions)).documents).toHaveLength(3);
  }, 60_000);

  it('in the middle of an export: what was delivered cannot be taken back, so it ends with unavailable', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const { lines } = await find(documents, 3_000).export(plainOptions);
    const reading = (async () => {
      for await (const _ of lines) if (proxy.connections > 0) await proxy.cut();
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'unavailable',
      fields: { hint: expect.any(String) },
    });
  });

  it('is unavailable when it stays away in the middle of a cursor', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const running = find(documents, 3_000).run({ ...plainOptions, maxBytes: 2 ** 24 });
    const failed = expect(running).rejects.toMatchObject({ code: 'unavailable' });
    await vi.waitUntil(() => proxy.sent().includes('getMore'), { interval: 1, timeout: 10_000 });
    await proxy.cut();
    await failed;
  });
});

describe('a query that takes too long', () => {
  const bounds = limits.documents as { queryTimeMs: number; replyGraceMs: number };
  const usual = { queryTimeMs: 30_000, replyGraceMs: 10_000 };
  const within = (times: Partial<typeof bounds>) => {
    expect(bounds).toMatchObject(usual);
    Object.assign(bounds, times);
    onTestFinished(() => void Object.assign(bounds, usual));
  };

  it('is ended by the server: timeout, with what helps', async () => {
    within({ queryTimeMs: 300 });
    await expect(aggregateEndlessly(database.documents).run(plainOptions)).rejects.toMatchObject({
      code: 'timeout',
      fields: { hint: expect.stringMatching(/index/) },
    });
  });

  it('is ended here when the server goes silent', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    await documents.databases();
    within({ queryTimeMs: 200, replyGraceMs: 200 });
    proxy.silence();
    await expect(find(documents, 3).run(plainOptions)).rejects.toMatchObject({ code: 'timeout' });
  });
});

describe('more queries than connections', () => {
  it('wait, and fail with the reason when none becomes free in time', async () => {
    const { port } = serverAddress();
    const patient = connectTo(connectionStringAt(port, 'maxPoolSize=1'));
    const both = [find(patient, 3), find(patient, 3)].map((query) => query.run(plainOptions));
    expect((await Promise.all(both)).map(({ documents: found }) => found.length)).toEqual([3, 3]);
    const documents = connectTo(connectionStringAt(port, 'maxPoolSize=1&waitQueueTimeoutMS=1000'));
    const call = new AbortController();
    const endless = aggregateEndlessly(documents).run({ ...plainOptions, signal: call.signal });
    const ended = expect(endless).rejects.toThrow('enough');
    await expect(find(documents, 3).run(plainOptions)).rejects.toMatchObject({
      code: 'resource_exhausted',
      fields: { retryable: true },
    });
    call.abort(new Error('enough'));
    await ended;
    expect((await find(documents, 3).run(plainOptions)).documents).toHaveLength(3);
  });
});

describe('a call that is canceled', () => {
  it('while the server computes its first answer: the connection is closed, which ends the work', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const call = new AbortController();
    const running = aggregateEndlessly(documents).run({ ...plainOptions, signal: call.signal });
    const reason = new Error('The client went away.');
    const ended = expect(running).rejects.toBe(reason);
    await vi.waitUntil(() => proxy.sent().includes('aggregate'));
    const connected = proxy.connections;
    call.abort(reason);
    await ended;
    await vi.waitUntil(() => proxy.connections === connected - 1);
  });

  it('while a cursor is open: the cursor is closed on the server', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const call = new AbortController();
    const { lines } = await find(documents, 3_000).export({ ...plainOptions, signal: call.signal });
    const iterator = lines[Symbol.asyncIterator]();
    await iterator.next();
    expect(proxy.sent()).not.toContain('killCursors');
    const reason = new Error('The client went away.');
    call.abort(reason);
    await expect(iterator.next()).rejects.toBe(reason);
    await vi.waitUntil(() => proxy.sent().includes('killCursors'));
  });

  it('before it began sends nothing', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const reason = new Error('Never mind.');
    const signal = AbortSignal.abort(reason);
    await expect(documents.databases(signal)).rejects.toBe(reason);
    await expect(find(documents, 3).run({ ...plainOptions, signal })).rejects.toBe(reason);
    await pause(50);
    expect(proxy.sent()).toBe('');
  });

  it('while it waits for a server that is away ends at once', async () => {
    const proxy = await startProxy();
    await proxy.cut();
    const patient = new URL(adminConnectionString);
    patient.port = String(proxy.port);
    patient.search = 'serverSelectionTimeoutMS=3600000';
    const documents = connectTo(patient.href);
    const call = new AbortController();
    const reason = new Error('Too long for me.');
    const running = expect(documents.databases(call.signal)).rejects.toBe(reason);
    await pause(100);
    call.abort(reason);
    await running;
  });
});

describe('a page that ends before its cursor', () => {
  it('closes the cursor on the server', async () => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    const { hasMore } = await find(documents, 2_500).run({ ...plainOptions, maxBytes: 20_000 });
    expect(hasMore).toBe(true);
    await vi.waitUntil(() => proxy.sent().includes('killCursors'));
    expect(proxy.sent()).not.toContain('getMore');
  });
});

describe('credentials', () => {
  it('are permission_denied when the server refuses them, naming the variable', async () => {
    const wrong = new URL(adminConnectionString);
    wrong.password = 'not-the-password';
    const none = new URL(adminConnectionString);
    none.username = '';
    none.password = '';
    for (const { href } of [wrong, none]) {
      await expect(connectTo(href).databases()).rejects.toMatchObject({
        code: 'permission_denied',
        fields: { hint: expect.stringContaining('DOCUMENTDB_CONNECTION_STRING') },
      });
    }
  });

  it('are known as writing or as only reading', async () => {
    expect(await database.documents.couldWrite()).toBe(true);
    expect(await connectTo(readerConnectionString).couldWrite()).toBe(false);
  });

  it('of a reader are enough for everything', async () => {
    const documents = connectTo(readerConnectionString);
    expect((await documents.databases()).map(({ name }) => name)).toContain(database.name);
    expect((await documents.collections(database.name)).map(({ name }) => name)).toEqual(['many']);
    const name = { database: database.name, collection: 'many' };
    expect((await documents.schema(name, 10)).sampled).toBe(10);
    expect((await find(documents, 2).run(plainOptions)).documents).toHaveLength(2);
    expect((await documents.count(name).run(plainOptions)).count).toBe(3_000);
  });
});
