/** Databases, collections and samples on a real server. */
import { type Document, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from './server.ts';

const id = (value: number) => value as unknown as ObjectId;

const database = useTestDatabase({
  orders: Array.from(
    { length: 300 },
    (_, index): Document => ({ _id: id(index), at: new Date(index), n: index }),
  ),
  customers: [{ _id: new ObjectId(), email: 'a@example.org' }],
});

beforeAll(async () => {
  const db = database.client.db(database.name);
  await db.createCollection('empty');
  await db.createCollection('early', { viewOn: 'orders', pipeline: [{ $match: { n: { $lt: 20 } } }] });
  await db.collection('customers').createIndex({ email: 1 }, { unique: true });
  await db.collection('orders').createIndex({ n: -1, at: 1 }, { name: 'by n', sparse: true });
  await db.collection('orders').createIndex({ at: 1 }, { expireAfterSeconds: 4_000_000_000 / 2 });
});

const schemaOf = (collection: string, sampleSize: number = 1_000) =>
  database.documents.schema({ database: database.name, collection }, sampleSize);

describe('databases', () => {
  it("[DDB-DISCOVER-01, WIRE-DB-01] are listed with their size, without the server's own", async () => {
    const databases = await database.documents.databases();
    const own = databases.find(({ name }) => name === database.name);
    expect(own).toEqual({ name: database.name, sizeOnDisk: expect.any(Number), empty: false });
    const names = databases.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    for (const internal of ['admin', 'config', 'local']) expect(names).not.toContain(internal);
  });
});

describe('collections', () => {
  it('[DDB-DISCOVER-02, WIRE-DB-02] are listed with type, count (null for a view) and indexes', async () => {
    const collections = await database.documents.collections(database.name);
    expect(collections.map(({ name, type, documentCount }) => [name, type, documentCount])).toEqual([
      ['customers', 'collection', 1],
      ['early', 'view', null],
      ['empty', 'collection', 0],
      ['orders', 'collection', 300],
    ]);
    const indexes = Object.fromEntries(collections.map(({ name, indexes }) => [name, indexes]));
    const byId = { name: '_id_', key: { _id: 1 }, unique: true };
    expect(indexes['customers']).toEqual([byId, { name: 'email_1', key: { email: 1 }, unique: true }]);
    expect(indexes['orders']).toEqual([
      byId,
      { name: 'by n', key: { n: -1, at: 1 }, unique: false, sparse: true },
      { name: 'at_1', key: { at: 1 }, unique: false, expireAfterSeconds: 2_000_000_000 },
    ]);
    expect(indexes['empty']).toEqual([byId]);
    expect(indexes['early']).toEqual([]);
  });

  it('of a database that is not there: not_found, with the nearest', async () => {
    const wrong = `${database.name}x`;
    await expect(database.documents.collections(wrong)).rejects.toMatchObject({
      code: 'not_found',
      fields: { resource: 'database', hint: expect.stringContaining(`'${database.name}'`) },
    });
  });

  it.each(['admin', 'config', 'local', '', 'a b', 'a.b'])('of the database %j are refused', async (name) => {
    await expect(database.documents.collections(name)).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'database_name' },
    });
  });
});

describe('a sample', () => {
  it('[DDB-SCHEMA-03, WIRE-DB-03] is all documents where they are few', async () => {
    const schema = await schemaOf('orders');
    expect(schema).toMatchObject({
      type: 'collection',
      sampled: 300,
      sampleMethod: 'all',
      documentCount: 300,
    });
    expect(schema.fields.map(({ path }) => path)).toEqual(['_id', 'at', 'n']);
    expect(schema.indexes.map(({ name }) => name)).toEqual(['_id_', 'by n', 'at_1']);
  });

  it('is drawn where they are many', async () => {
    const schema = await schemaOf('orders', 100);
    expect(schema).toMatchObject({ sampled: 100, sampleMethod: 'random', documentCount: 300 });
  });

  it('of exactly as many as there are is all of them', async () => {
    expect(await schemaOf('orders', 300)).toMatchObject({ sampled: 300, sampleMethod: 'all' });
    expect(await schemaOf('orders', 299)).toMatchObject({ sampled: 299, sampleMethod: 'random' });
  });

  it('of a view names its source', async () => {
    const schema = await schemaOf('early');
    expect(schema).toMatchObject({ type: 'view', viewOn: 'orders', sampled: 20, sampleMethod: 'all' });
    expect(schema.documentCount).toBe(20);
    expect(schema.indexes).toEqual([]);
    expect(await schemaOf('early', 5)).toMatchObject({
      sampled: 5,
      sampleMethod: 'random',
      documentCount: null,
    });
  });

  it('[WIRE-DB-05] of an empty collection has no fields', async () => {
    expect(await schemaOf('empty')).toMatchObject({ sampled: 0, documentCount: 0, fields: [] });
  });

  it('[WIRE-DB-06] of a collection that is not there: not_found, with the nearest names', async () => {
    await expect(schemaOf('order')).rejects.toMatchObject({
      code: 'not_found',
      fields: { resource: 'collection', hint: expect.stringContaining("'orders'") },
    });
  });
});
