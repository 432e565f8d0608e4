/** Pipelines and counts on a real server. */
import type { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { plainOptions, useTestDatabase } from '../server.ts';

const id = (value: number) => value as unknown as ObjectId;

const orders = Array.from({ length: 60 }, (_, index) => ({
  _id: id(index),
  customer: index % 4,
  region: ['north', 'south', 'west'][index % 3],
  total: index + 0.5,
  lines: [
    { sku: `s${index % 5}`, count: 1 },
    { sku: 'common', count: 2 },
  ],
}));
const customers = Array.from({ length: 4 }, (_, index) => ({ _id: id(index), name: `customer ${index}` }));

const database = useTestDatabase({ orders, customers });

async function aggregate(pipeline: object[], limit?: number) {
  const request = {
    database: database.name,
    collection: 'orders',
    pipeline: pipeline.map((stage) => JSON.stringify(stage)),
    ...(limit !== undefined && { limit }),
  };
  const result = await database.documents.aggregate(request).run(plainOptions);
  return { ...result, values: result.documents.map((text) => JSON.parse(text) as Record<string, unknown>) };
}

async function count(filter?: string, collection = 'orders'): Promise<number> {
  const request = { database: database.name, collection, ...(filter !== undefined && { filter }) };
  return (await database.documents.count(request).run(plainOptions)).count;
}

describe('pipelines', () => {
  it('[DDB-AGG-01] give their documents as text; an empty one gives all', async () => {
    const { values, hasMore } = await aggregate([]);
    expect([values.length, hasMore]).toEqual([60, false]);
    expect(values.find(({ _id }) => _id === 7)).toEqual(orders[7]);
  });

  it('[DDB-AGG-02] match, group, project, sort and limit', async () => {
    const { values } = await aggregate([
      { $match: { total: { $gte: 30 } } },
      { $group: { _id: '$region', orders: { $sum: 1 }, most: { $max: '$total' } } },
      { $project: { orders: 1, most: 1 } },
      { $sort: { _id: 1 } },
      { $limit: 2 },
    ]);
    expect(values).toEqual([
      { _id: 'north', orders: 10, most: 57.5 },
      { _id: 'south', orders: 10, most: 58.5 },
    ]);
  });

  it('[DDB-AGG-02] unwind and look up in another collection', async () => {
    const { values } = await aggregate([
      { $match: { _id: 6 } },
      { $unwind: '$lines' },
      { $lookup: { from: 'customers', localField: 'customer', foreignField: '_id', as: 'who' } },
      { $project: { _id: 0, sku: '$lines.sku', who: '$who.name' } },
    ]);
    expect(values).toEqual([
      { sku: 's1', who: ['customer 2'] },
      { sku: 'common', who: ['customer 2'] },
    ]);
  });

  it('[DDB-AGG-03, WIRE-DB-10] keep to the limit with any stages', async () => {
    const more = await aggregate([{ $sort: { _id: 1 } }, { $limit: 50 }], 7);
    expect(more.values.map(({ _id }) => _id)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(more.hasMore).toBe(true);
    expect(more.notes.join()).toContain('{"$skip": 7}');
    const fewer = await aggregate([{ $sort: { _id: 1 } }, { $limit: 5 }], 7);
    expect([fewer.values.length, fewer.hasMore, fewer.notes]).toEqual([5, false, []]);
    const exactly = await aggregate([{ $sort: { _id: 1 } }, { $limit: 7 }], 7);
    expect([exactly.values.length, exactly.hasMore]).toEqual([7, false]);
  });

  it('[WIRE-DB-16] name what else they read', () => {
    const lookup = { $lookup: { from: 'customers', localField: 'customer', foreignField: '_id', as: 'who' } };
    const request = { database: database.name, collection: 'orders', pipeline: [JSON.stringify(lookup)] };
    expect(database.documents.aggregate(request).sources).toEqual([
      { database: database.name, collection: 'orders' },
      { database: database.name, collection: 'customers' },
    ]);
  });

  it('fail with invalid_argument, in the server’s words, when the server refuses them', async () => {
    const divided = aggregate([{ $project: { x: { $divide: ['$total', 0] } } }]);
    await expect(divided).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/divide by zero/i),
      fields: { parameter: 'pipeline', hint: expect.any(String) },
    });
  });
});

describe('counts', () => {
  it('[DDB-COUNT-01, DDB-COUNT-02] all documents without a filter, those that match with one', async () => {
    expect(await count()).toBe(60);
    expect(await count('{}')).toBe(60);
    expect(await count('{"region": "north", "total": {"$lt": 10}}')).toBe(4);
    expect(await count('{"region": "North"}')).toBe(0);
    expect(await count(undefined, 'none')).toBe(0);
  });
});
