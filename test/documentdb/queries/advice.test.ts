/** Queries of a collection whose schema is known, on a real server. */
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CollectionSchema } from '../../../src/model/document-schema.ts';
import { plainOptions, useTestDatabase } from '../server.ts';

const customer = new ObjectId();
const orders = Array.from({ length: 30 }, (_, index) => ({
  _id: new ObjectId(),
  customer_id: index < 3 ? customer : new ObjectId(),
  created_at: new Date(Date.UTC(2024, 0, 1 + index)),
  status: index % 2 === 0 ? 'paid' : 'open',
  total: index,
}));

const database = useTestDatabase({ orders });
let schema: CollectionSchema;

beforeAll(async () => {
  schema = await database.documents.schema({ database: database.name, collection: 'orders' }, 100);
});

const options = () => ({ ...plainOptions, schemaOf: () => schema });
const collection = 'orders';
const meant = JSON.stringify({ customer_id: customer.toHexString(), created_at: { $gte: '2024-01-02' } });

describe('values that are meant as another type', () => {
  it('find what they mean, and it is said', async () => {
    const request = { database: database.name, collection, filter: meant, skip: 0 };
    const found = await database.documents.find(request).run(options());
    expect(found.documents).toHaveLength(2);
    expect(found.notes.join('\n')).toMatch(/customer_id/);
    expect(found.notes.join('\n')).toMatch(/created_at/);
    // No schema takes part in it.
    const unknown = await database.documents.find(request).run(plainOptions);
    expect([unknown.documents, unknown.notes]).toEqual([found.documents, found.notes]);
  });

  it('are counted, matched and exported as they are meant', async () => {
    const { name } = database;
    const counted = await database.documents
      .count({ database: name, collection, filter: meant })
      .run(options());
    expect(counted).toEqual({ count: 2, notes: [expect.stringContaining('as written')] });
    const pipeline = [`{"$match": ${meant}}`, '{"$group": {"_id": null, "total": {"$sum": "$total"}}}'];
    const query = database.documents.aggregate({ database: name, collection, pipeline });
    expect((await query.run(options())).documents).toEqual(['{"_id":null,"total":3}']);
    const exported = await query.export(options());
    expect(exported.notes.join()).toMatch(/customer_id/);
    for await (const lines of exported.lines) {
      expect(Buffer.from(lines).toString()).toBe('{"_id":null,"total":3}\n');
    }
  });
});

describe('a result of nothing', () => {
  it('is explained by what the collection holds', async () => {
    const filter = '{"status": "Paid", "total": {"$gte": 0}}';
    const request = { database: database.name, collection, filter, skip: 0 };
    const found = await database.documents.find(request).run(options());
    expect(found.documents).toEqual([]);
    expect(found.notes.join()).toMatch(/paid/);
    const counted = await database.documents
      .count({ database: database.name, collection, filter })
      .run(options());
    expect(counted.notes).toEqual(found.notes);
  });

  it('is not explained where documents were skipped', async () => {
    const request = { database: database.name, collection, filter: '{"status": "paid"}', skip: 100 };
    expect((await database.documents.find(request).run(options())).notes).toEqual([]);
  });

  it('names the nearest field when the one in the filter does not exist', async () => {
    const request = { database: database.name, collection, filter: '{"customerid": 1}', skip: 0 };
    const { notes } = await database.documents.find(request).run(options());
    expect(notes.join()).toMatch(/customer_id/);
  });
});
