/** The image of the document database in a real sandbox, driven by the official driver. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { deserialize } from 'bson';
import { type Collection, type Long, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connected, type DocumentDb, startDocumentDb, withClient } from '../support/documentdb.ts';
import { must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { frame, message, query, u32 } from './messages.ts';

interface Item {
  _id: number;
  kind?: number;
  text?: string;
}

/** Takes some 10 ms for each document. */
const slow = {
  $expr: {
    $eq: [{ $size: { $filter: { input: { $range: [0, 100_000] }, cond: { $eq: ['$$this', -1] } } } }, 1],
  },
};

let service: SharedService;
let server: DocumentDb;
let admin: MongoClient;
let reader: MongoClient;
let items: Collection<Item>;

beforeAll(async () => {
  service = await sharedService();
  server = await startDocumentDb(service);
  admin = await connected(server.uri('sandhaven'));
  reader = await connected(server.uri('reader'));
  items = admin.db('shop').collection<Item>('items');
  await items.insertMany(
    Array.from({ length: 2_000 }, (_, i) => ({ _id: i, kind: i % 10, text: 'x'.repeat(100) })),
  );
  await items.createIndex({ kind: 1 });
}, 120_000);

afterAll(async () => {
  await Promise.allSettled([admin?.close(), reader?.close()]);
  await server?.close();
  await service?.stop();
}, 60_000);

describe('a login', () => {
  it('with another password, or as nobody, fails alike and with code 18', async () => {
    const uri = (user: string) => `mongodb://${user}:wrong@127.0.0.1:${server.port}/?directConnection=true`;
    for (const user of ['sandhaven', 'reader', 'nobody', 'postgres', 'documentdb_bg_worker_role']) {
      await expect(attempt(uri(user))).rejects.toMatchObject({ code: 18, message: 'Authentication failed.' });
    }
  });

  it('is needed for anything but saying hello', async () => {
    const uri = `mongodb://127.0.0.1:${server.port}/?directConnection=true`;
    const client = new MongoClient(uri);
    await expect(client.db('shop').collection('items').findOne()).rejects.toMatchObject({ code: 13 });
    expect(await client.db('admin').command({ hello: 1 })).toMatchObject({ maxWireVersion: 21, ok: 1 });
    expect(await client.db('admin').command({ connectionStatus: 1 })).toMatchObject({
      authInfo: { authenticatedUsers: [] },
    });
    await client.close();
  });

  it('shows its user and the user’s privileges', async () => {
    const status = (client: MongoClient) =>
      client.db('admin').command({ connectionStatus: 1, showPrivileges: true });
    const may = async (client: MongoClient, action: string) =>
      (await status(client))['authInfo'].authenticatedUserPrivileges.some(
        ({ actions }: { actions: string[] }) => actions.includes(action),
      );
    expect((await status(reader))['authInfo'].authenticatedUsers).toEqual([{ user: 'reader', db: 'admin' }]);
    expect([await may(reader, 'find'), await may(reader, 'insert')]).toEqual([true, false]);
    expect([await may(admin, 'find'), await may(admin, 'insert')]).toEqual([true, true]);
  });
});

describe('the reader', () => {
  it('reads everything and is refused every write by the database', async () => {
    const shop = reader.db('shop');
    const mine = shop.collection<Item>('items');
    expect(await mine.countDocuments({ kind: 3 })).toBe(200);
    expect(await mine.find().sort({ _id: -1 }).limit(2).toArray()).toHaveLength(2);
    const writes = [
      mine.insertOne({ _id: -1 }),
      mine.updateOne({ _id: 1 }, { $set: { kind: 0 } }),
      mine.deleteOne({ _id: 1 }),
      mine.createIndex({ text: 1 }),
      mine.drop(),
      shop.dropDatabase(),
      shop.createCollection('other'),
      reader.db('fresh').collection('c').insertOne({}),
      mine.aggregate([{ $out: 'other' }]).toArray(),
      mine.aggregate([{ $merge: 'items' }]).toArray(),
    ];
    for (const result of await Promise.allSettled(writes)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 13 } });
    }
    expect(await items.countDocuments()).toBe(2_000);
  });
});

describe('a query', () => {
  it('gives its documents in pages of the asked size, sorted or not', async () => {
    for (const sort of [{}, { kind: 1 } as const]) {
      const ids = (await items.find({}, { sort }).batchSize(300).toArray()).map(({ _id }) => _id);
      expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 2_000 }, (_, i) => i));
    }
    expect(await items.find({}, { singleBatch: true, batchSize: 5 }).toArray()).toHaveLength(5);
  });

  it('frees its cursor and its backend when it is given up', async () => {
    const cursors = Array.from({ length: 5 }, () => items.find({}).sort({ kind: 1 }).batchSize(10));
    await Promise.all(cursors.map((cursor) => cursor.next()));
    const before = await backends('true');
    expect(before).toBeGreaterThanOrEqual(5);
    const ids = cursors.map(({ id }) => id as Long);
    await Promise.all(cursors.map((cursor) => cursor.close()));
    await eventually(async () => (await backends('true')) === before - 5);
    for (const id of ids) {
      const getMore = admin.db('shop').command({ getMore: id, collection: 'items' });
      await expect(getMore).rejects.toMatchObject({ code: 43 });
    }
  });

  it("is another user's secret: a cursor is of no use to anybody else", async () => {
    const cursor = items.find({}).batchSize(10);
    await cursor.next();
    const getMore = { getMore: cursor.id, collection: 'items' };
    await expect(reader.db('shop').command(getMore)).rejects.toMatchObject({ code: 13 });
    expect(await cursor.next()).not.toBeNull();
    await cursor.close();
  });

  it('over its time ends with code 50, on its first page or a later one', async () => {
    await expect(items.find(slow).maxTimeMS(200).toArray()).rejects.toMatchObject({ code: 50 });
    await expect(items.countDocuments(slow, { maxTimeMS: 200 })).rejects.toMatchObject({ code: 50 });
    const later = items.find({ $or: [{ _id: { $lt: 4 } }, slow] }, { batchSize: 2, maxTimeMS: 400 });
    await expect(later.toArray()).rejects.toMatchObject({ code: 50 });
    expect(await items.countDocuments({})).toBe(2_000);
  });

  it('is cancelled in the database when its client goes', async () => {
    const client = await connected(server.uri('sandhaven'));
    const running = client.db('shop').collection('items').find(slow).toArray();
    running.catch(() => {});
    await eventually(async () => (await backends("state = 'active'")) === 1);
    await client.close(true);
    await expect(running).rejects.toThrow();
    await eventually(async () => (await backends("state = 'active'")) === 0);
  });

  it('is explained as MongoDB does: by an index, or over the whole collection', async () => {
    const plan = async (filter: object) =>
      (await items.find(filter).explain('queryPlanner'))['queryPlanner'].winningPlan;
    expect(await plan({ kind: 3 })).toEqual({
      stage: 'FETCH',
      inputStage: { stage: 'IXSCAN', indexName: 'kind_1' },
    });
    expect(await plan({ text: 'y' })).toEqual({ stage: 'COLLSCAN' });
  });

  it.each([
    ['an unknown operator', { $nope: 1 }, 2],
    ['a bad expression', { $expr: { $divide: [1, 0] } }, 2],
    ['an operator of the wrong type', { $expr: { $size: '$text' } }, 17_124],
    ['a broken regular expression', { text: { $regex: '[' } }, 51_091],
    ['no text index for a text search', { $text: { $search: 'x' } }, 27],
  ])('with %s is refused with MongoDB’s code', async (_, filter, code) => {
    await expect(items.find(filter).toArray()).rejects.toMatchObject({ code, errmsg: expect.any(String) });
  });

  it('fails with different codes for an unknown stage and an unknown command', async () => {
    await expect(items.aggregate([{ $nope: 1 }]).toArray()).rejects.toMatchObject({ code: 40324 });
    await expect(admin.db('shop').command({ nope: 1 })).rejects.toMatchObject({
      code: 59,
      codeName: 'CommandNotFound',
    });
  });
});

describe('a write', () => {
  it('names the document that repeats a key, and goes on with the others when it may', async () => {
    const scratch = admin.db('scratch').collection<Item>('c');
    await scratch.insertOne({ _id: 1 });
    const many = scratch.insertMany([{ _id: 2 }, { _id: 1 }, { _id: 3 }], { ordered: false });
    await expect(many).rejects.toMatchObject({ code: 11_000, writeErrors: [{ index: 1, code: 11_000 }] });
    expect(await scratch.countDocuments()).toBe(3);
    await scratch.drop();
  });

  it('of 30,000 documents at once goes in as many commands as it takes', async () => {
    const many = admin.db('scratch').collection<Item>('many');
    const { insertedCount } = await many.insertMany(Array.from({ length: 30_000 }, (_, _id) => ({ _id })));
    expect([insertedCount, await many.countDocuments()]).toEqual([30_000, 30_000]);
    await many.drop();
  });

  it('of a document of 16 MB is taken, and of more refused', async () => {
    const big = admin.db('scratch').collection<Item>('big');
    const text = 'x'.repeat(16 * 1024 * 1024 - 100);
    await big.insertOne({ _id: 1, text });
    expect((await big.findOne({ _id: 1 }))?.text === text).toBe(true);
    await expect(big.insertOne({ _id: 2, text: `${text}${'x'.repeat(200)}` })).rejects.toThrow();
    await big.drop();
  });

  it('makes views, which are listed as what they are', async () => {
    const shop = admin.db('shop');
    await shop.createCollection('threes', { viewOn: 'items', pipeline: [{ $match: { kind: 3 } }] });
    expect(await shop.collection('threes').countDocuments()).toBe(200);
    const listed = await shop.listCollections().toArray();
    expect(Object.fromEntries(listed.map(({ name, type }) => [name, type]))).toEqual({
      items: 'collection',
      threes: 'view',
    });
    await shop.collection('threes').drop();
  });
});

describe('a client that is none', () => {
  it('is answered in the old form when its hello has that form', async () => {
    const socket = await open();
    socket.write(query({ ismaster: 1 }));
    const reply = await received(socket);
    expect(reply.readInt32LE(12)).toBe(1);
    expect(deserialize(reply.subarray(36))).toMatchObject({ ismaster: true, ok: 1 });
    socket.destroy();
  });

  it.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a message too large for somebody unknown', u32(1_000_000)],
    ['a message of no length', u32(0)],
    ['a message of another kind', frame(2012, Buffer.alloc(30))],
    [
      'a message cut short inside',
      frame(2013, Buffer.concat([u32(0), Buffer.of(0), u32(900), Buffer.alloc(9)])),
    ],
  ])('is hung up on, or refused, for %s, and the others never notice', async (_, bytes) => {
    const socket = await open();
    socket.write(bytes);
    const end = once(socket, 'close').then(() => 'closed');
    const answer = once(socket, 'data').then(([reply]) => deserialize((reply as Buffer).subarray(21))['ok']);
    expect(['closed', 0]).toContain(await Promise.race([end, answer]));
    socket.destroy();
    expect(await items.countDocuments({ _id: 7 })).toBe(1);
  });

  it('is answered once for what wants an answer, in the order of its messages', async () => {
    const socket = await open();
    const asked = [1, 2, 3].map((id) => message({ ping: 1, $db: 'admin' }, { id, flags: id === 2 ? 2 : 0 }));
    socket.write(Buffer.concat(asked));
    let all = await received(socket);
    while (all.length < 2 * all.readInt32LE(0)) all = Buffer.concat([all, await received(socket)]);
    const size = all.readInt32LE(0);
    expect([all.readInt32LE(8), all.readInt32LE(size + 8), all.length]).toEqual([1, 3, 2 * size]);
    socket.destroy();
  });
});

/** Last, as everybody's connections end. */
describe('the data', () => {
  it('is there after the sandbox was stopped and started', async () => {
    await items.insertOne({ _id: -5, text: 'before the stop' });
    await must(service, 'StopSandbox', { sandbox: server.sandbox });
    await must(service, 'StartSandbox', { sandbox: server.sandbox });
    const found = await withClient(server, 'reader', (client) =>
      client.db('shop').collection<Item>('items').findOne({ _id: -5 }),
    );
    expect(found?.text).toBe('before the stop');
  }, 60_000);

  it('is there after PostgreSQL was killed and started again', async () => {
    await withClient(server, 'sandhaven', (client) =>
      client.db('shop').collection<Item>('items').insertOne({ _id: -6 }),
    );
    const { sandbox } = server;
    await must(service, 'RunCommand', {
      sandbox,
      command: 'kill -9 $(head -n 1 /var/lib/documentdb/data/postmaster.pid)',
    });
    await eventually(async () => (await inside('ps -C node,postgres -o pid= | wc -l')) === '0');
    await must(service, 'RunCommand', { sandbox, command: 'setsid documentdb-start >/tmp/log 2>&1 &' });
    const count = await withClient(server, 'reader', (client) =>
      client
        .db('shop')
        .collection<Item>('items')
        .countDocuments({ _id: { $lt: 0 } }),
    );
    expect(count).toBe(2);
  }, 60_000);

  it('has one server: a second start is refused and harms nothing', async () => {
    expect(await inside('documentdb-start 2>&1; echo $?')).toMatch(/running already\n1$/);
    expect(
      await withClient(server, 'reader', (client) => client.db('shop').collection('items').countDocuments()),
    ).toBe(2_002);
  }, 60_000);
});

async function attempt(uri: string): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 });
  try {
    await client.connect();
  } finally {
    await client.close();
  }
}

async function open(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function received(socket: Socket): Promise<Buffer> {
  const [bytes] = await once(socket, 'data');
  return bytes as Buffer;
}

async function inside(command: string): Promise<string> {
  return String((await must(service, 'RunCommand', { sandbox: server.sandbox, command }))['stdout']).trim();
}

/** How many of the admin's are in such a state. */
async function backends(condition: string): Promise<number> {
  const sql = `SELECT count(*) FROM pg_stat_activity WHERE usename = 'sandhaven' AND ${condition}`;
  const psql =
    'setpriv --reuid=postgres --regid=postgres --init-groups -- psql -h /run/documentdb -At postgres';
  return Number(await inside(`${psql} -c "${sql}"`));
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it did not become so');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
