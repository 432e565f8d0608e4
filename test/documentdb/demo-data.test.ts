/** The demo data in a real server: loaded once, whole or not at all, and found by the tools. */

import { inspect } from 'node:util';
import { serialize } from 'bson';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { collectionNames, documentsOf, loadDemoData } from '../../src/demo-database/data/load.ts';
import { planShop } from '../../src/demo-database/data/shop.ts';
import { startProxy } from './connection/proxy.ts';
import { adminConnectionString, connectionStringAt, useTestDatabase } from './server.ts';

const SIZE = 1_500;
const expected = { customers: 150, products: 30, orders: 720, events: 600 };

const database = useTestDatabase();
const db = database.client.db(database.name);
const marks = database.client.db('admin').collection<{ _id: string }>('sandhaven_demo');

afterAll(async () => {
  await marks.deleteOne({ _id: database.name });
});

const load = (documents: number, more: Partial<Parameters<typeof loadDemoData>[1]> = {}) =>
  loadDemoData(database.client, { documents, database: database.name, ...more });

describe('loading', () => {
  it('puts everything there, and reports its progress', async () => {
    const progress: [done: number, total: number][] = [];
    const result = await load(SIZE, { onProgress: (done, total) => progress.push([done, total]) });
    expect(result).toEqual({ loaded: true, collections: expected });
    expect(progress.at(-1)).toEqual([SIZE, SIZE]);
    const done = progress.map(([count]) => count);
    expect(done.toSorted((a, b) => a - b)).toEqual(done);
    expect(done.length).toBeGreaterThan(3);
  });

  it('stores what was generated', async () => {
    for (const name of collectionNames) {
      const stored = await db
        .collection(name)
        .find({}, { raw: true, sort: { _id: 1 } })
        .toArray();
      const made = [...documentsOf(planShop(SIZE), name)].map((document) => hex(serialize(document)));
      const bytes = stored.map((document) => hex(document as unknown as Uint8Array));
      expect(bytes.toSorted()).toEqual(made.toSorted());
    }
  });

  it('leaves a whole set alone, what was added to it too', async () => {
    await db.collection('products').insertOne({ sku: 'of the user' });
    expect(await load(SIZE)).toEqual({ loaded: false, collections: { ...expected, products: 31 } });
    expect(await db.collection('products').countDocuments({ sku: 'of the user' })).toBe(1);
  });

  it('loads another size anew', async () => {
    expect(await load(200)).toEqual({
      loaded: true,
      collections: { customers: 20, products: 4, orders: 96, events: 80 },
    });
    expect(await load(SIZE)).toEqual({ loaded: true, collections: expected });
  });

  it('refuses a size that is none before it touches anything', async () => {
    await expect(load(-1)).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await load(SIZE)).toMatchObject({ loaded: false });
  });

  it('loads anew what was broken off, or has lost a collection', async () => {
    const end = new AbortController();
    const reason = new Error('Enough.');
    const broken = load(SIZE + 2_500, {
      signal: end.signal,
      onProgress: (done) => done > 1_000 && end.abort(reason),
    });
    await expect(broken).rejects.toBe(reason);
    const left = await db.collection('orders').countDocuments();
    expect(left).toBeGreaterThan(0);
    expect(await load(SIZE + 2_500)).toMatchObject({ loaded: true });
    expect(await load(SIZE)).toEqual({ loaded: true, collections: expected });
    await db.collection('events').drop();
    expect(await load(SIZE)).toEqual({ loaded: true, collections: expected });
  });

  it('reports in one sentence that the server went away, and begins anew', async () => {
    const proxy = await startProxy();
    const client = new MongoClient(connectionStringAt(proxy.port), { serverSelectionTimeoutMS: 1_000 });
    onTestFinished(() => client.close());
    const onProgress = () => void proxy.cut();
    const error: unknown = await loadDemoData(client, {
      documents: 4_000,
      database: database.name,
      onProgress,
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'unavailable',
      fields: { hint: expect.stringContaining('Try again') },
    });
    expect(inspect(error, { depth: 5 }).length).toBeLessThan(3_000);
    expect(inspect(error, { depth: 5 })).not.toContain(
      new URL(adminConnectionString).password || 'no password',
    );
    expect(await load(SIZE)).toEqual({ loaded: true, collections: expected });
  });

  it('takes no set for whole that somebody else writes to meanwhile', async () => {
    let intruded: Promise<unknown> | undefined;
    const onProgress = () => {
      intruded ??= db.collection('events').insertOne({ at: new Date() });
    };
    await expect(load(300, { onProgress })).rejects.toMatchObject({ code: 'failed_precondition' });
    await intruded;
    expect(await marks.countDocuments({ _id: database.name })).toBe(0);
    expect(await load(SIZE)).toMatchObject({ loaded: true });
  });
});

describe('the loaded database', () => {
  beforeAll(async () => {
    await load(SIZE);
  });

  it('has its indexes and the view, and nothing of the mark', async () => {
    const collections = await database.documents.collections(database.name);
    expect(
      collections.map(({ name, type, indexes }) => [name, type, indexes.map((index) => index.name)]),
    ).toEqual([
      ['customers', 'collection', ['_id_', 'email_1']],
      ['events', 'collection', ['_id_', 'at_1']],
      ['monthly_orders', 'view', []],
      ['orders', 'collection', ['_id_', 'created_at_1', 'region_1_created_at_1', 'customer_id_1']],
      ['products', 'collection', ['_id_', 'sku_1']],
    ]);
    const databases = await database.documents.databases();
    expect(databases.filter(({ name }) => /demo|admin/.test(name))).toEqual([]);
  });

  it('keeps addresses of mail unique', async () => {
    const [someone] = await db.collection('customers').find().limit(1).toArray();
    const again = db.collection('customers').insertOne({ email: someone?.['email'] });
    await expect(again).rejects.toMatchObject({ code: 11000 });
  });

  it('counts every order in the view, by month and region', async () => {
    const rows = await db.collection('monthly_orders').find({ month: '2025-11' }).toArray();
    const made = [...documentsOf(planShop(SIZE), 'orders')].filter(({ created_at }) =>
      created_at.toISOString().startsWith('2025-11'),
    );
    const byRegion = Object.groupBy(made, ({ region }) => region);
    expect(Object.keys(byRegion).length).toBeGreaterThan(2);
    const totals = Object.fromEntries(
      Object.entries(byRegion).map(([region, orders = []]) => [region, [orders.length, sumOf(orders)]]),
    );
    expect(
      Object.fromEntries(rows.map(({ region, orders, revenue }) => [region, [orders, `${revenue}`]])),
    ).toEqual(totals);
  });

  it('joins its collections', async () => {
    const rows = await db
      .collection('orders')
      .aggregate([
        { $limit: 20 },
        { $lookup: { from: 'customers', localField: 'customer_id', foreignField: '_id', as: 'customer' } },
        {
          $lookup: { from: 'products', localField: 'items.product_id', foreignField: '_id', as: 'products' },
        },
      ])
      .toArray();
    expect(rows).toHaveLength(20);
    for (const { customer, products, items } of rows) {
      expect(customer).toHaveLength(1);
      const skus = (list: { sku: string }[]) => [...new Set(list.map(({ sku }) => sku))].toSorted();
      expect(skus(products)).toEqual(skus(items));
    }
  });
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** As exact as the database adds: in cents. */
function sumOf(orders: { total?: unknown }[]): string {
  const cents = orders.reduce((sum, { total }) => sum + BigInt(`${total}`.replace('.', '')), 0n);
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
}
