/** On a real server: what is read by the schema finds the documents that were meant, and empty results are explained. */
import { randomBytes } from 'node:crypto';
import { type Document, Long, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adviseAfter, prepareAggregate, prepareFind } from '../../src/documentdb/hints/advice.ts';
import type { Probe } from '../../src/documentdb/hints/probe.ts';
import { SchemaInference } from '../../src/documentdb/schema/inference.ts';
import type { CollectionSchema } from '../../src/model/document-schema.ts';

const connectionString =
  process.env['SANDHAVEN_TEST_DOCUMENTDB'] ?? 'mongodb://127.0.0.1:27117/?directConnection=true';
const client = new MongoClient(connectionString);
const database = client.db(`t_${randomBytes(8).toString('hex')}`);
const orders = database.collection('orders');

const ada = new ObjectId();
const bob = new ObjectId();
const legacy = new ObjectId();
const documents: Document[] = [
  ...Array.from({ length: 20 }, (_, index) => ({
    customer_id: ada,
    status: 'paid',
    created_at: new Date(Date.UTC(2024, 0, 1 + index, 12)),
    legacy_id: index % 2 ? legacy : legacy.toHexString(),
    quantity: index,
    big: Long.fromString('9007199254740993'),
    city: `City ${index}`,
    items: [{ product_id: bob, sku: `s${index}` }],
  })),
  ...Array.from({ length: 20 }, (_, index) => ({
    customer_id: bob,
    status: 'open',
    created_at: new Date(Date.UTC(2024, 2, 1 + index)),
    legacy_id: 'none',
    quantity: 100 + index,
    city: `City ${index}`,
    items: [],
  })),
];

let schema: CollectionSchema;

beforeAll(async () => {
  await orders.insertMany(documents);
  const inference = new SchemaInference();
  for await (const document of orders.find({}, { raw: true }))
    inference.add(document as unknown as Uint8Array);
  schema = {
    name: { database: database.databaseName, collection: 'orders' },
    type: 'collection',
    sampled: inference.sampled,
    sampleMethod: 'all',
    documentCount: documents.length,
    fields: inference.fields(),
    indexes: [],
    notes: [],
  };
});

afterAll(async () => {
  await database.dropDatabase();
  await client.close();
});

const probe: Probe = async (filter, timeoutMs) =>
  (await orders.findOne(filter, { maxTimeMS: timeoutMs, projection: { _id: 1 } })) !== null;

async function found(filter: Document): Promise<{ before: number; after: number; notes: string[] }> {
  const prepared = prepareFind({ filter, schema });
  const before = (await orders.find(filter).toArray()).length;
  const after = (await orders.find(prepared.filter).toArray()).length;
  return { before, after, notes: await adviseAfter({ prepared, empty: after === 0, schema, probe }) };
}

describe('a filter read by the schema', () => {
  it.each<[string, Document, number]>([
    ['an id', { customer_id: ada.toHexString() }, 20],
    ['an id in a list', { customer_id: { $in: [ada.toHexString(), bob.toHexString()] } }, 40],
    [
      'an id in documents of a list',
      { items: { $elemMatch: { product_id: bob.toHexString(), sku: 's3' } } },
      1,
    ],
    ['a month', { created_at: { $gte: '2024-01-01', $lt: '2024-02-01' } }, 20],
    ['an instant with an offset', { created_at: '2024-01-01T14:00:00+02:00' }, 1],
  ])('finds by %s what was meant', async (_, filter, count) => {
    const { before, after, notes } = await found(filter);
    expect(before).toBe(0);
    expect(after).toBe(count);
    expect(notes).toEqual([expect.stringMatching(/^filter_dict: .* given as .*strings?; the field holds/)]);
  });

  it('finds ids and strings where the field has both', async () => {
    const { before, after } = await found({ legacy_id: legacy.toHexString() });
    expect([before, after]).toEqual([10, 20]);
    const others = await found({ legacy_id: { $ne: legacy.toHexString() } });
    expect([others.before, others.after]).toEqual([30, 20]);
  });

  it('finds the same in a pipeline', async () => {
    const stages = [
      { $match: { customer_id: ada.toHexString() } },
      { $group: { _id: '$status', n: { $sum: 1 } } },
    ];
    const prepared = prepareAggregate(stages, schema);
    expect(await orders.aggregate([...prepared.stages]).toArray()).toEqual([{ _id: 'paid', n: 20 }]);
  });

  it('is not touched where it fits', async () => {
    const { before, after, notes } = await found({ customer_id: ada, quantity: { $gte: 5 }, city: 'City 7' });
    expect([before, after, notes]).toEqual([1, 1, []]);
  });
});

describe('an empty result', () => {
  it.each<[string, Document, RegExp]>([
    ['another case of a known word', { status: 'Paid' }, /status is never "Paid", but "paid"/],
    [
      'another case of a word among many',
      { city: 'city 3' },
      /\{"city":"city 3"\} matches in another case only/,
    ],
    [
      'a number as a string',
      { quantity: '3' },
      /quantity is compared with the string "3", but holds int.* Write 3 without quotes/,
    ],
    [
      'a range beyond',
      { created_at: { $gte: '2025-01-01' } },
      /created_at goes from .*2024-01-01.* to .*2024-03-20.*is outside/,
    ],
    ['a field that is not there', { town: 'x' }, /town is in none of the 40 documents/],
    [
      'a condition that nothing matches',
      { status: 'paid', city: 'Nowhere' },
      /no document matches \{"city":"Nowhere"\}, whatever else/,
    ],
    [
      'conditions that do not meet',
      { status: 'paid', quantity: { $gte: 100 } },
      /there are documents with \{"status":"paid"\}, and with \{"quantity":\{"\$gte":100\}\}, but none with both/,
    ],
  ])('of %s says so', async (_, filter, reason) => {
    const { after, notes } = await found(filter);
    expect(after).toBe(0);
    expect(
      notes.some((note) => reason.test(note)),
      notes.join('\n'),
    ).toBe(true);
    expect(notes.length).toBeLessThanOrEqual(3);
  });
});
