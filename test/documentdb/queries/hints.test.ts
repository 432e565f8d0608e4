/** Empty results are explained by the schema. */
import { type Document, Long, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CollectionSchema } from '../../../src/model/document-schema.ts';
import { plainOptions, useTestDatabase } from '../server.ts';

const ada = new ObjectId();
const bob = new ObjectId();
const legacy = new ObjectId();
const content: Document[] = [
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
  ...Array.from({ length: 60 }, (_, index) => ({
    customer_id: bob,
    status: 'open',
    created_at: new Date(Date.UTC(2024, 2, 1 + index)),
    legacy_id: 'none',
    quantity: 100 + index,
    city: `City ${100 + index}`,
    items: [],
  })),
];

const { name: database, documents, client } = useTestDatabase({ orders: content });
const name = { database, collection: 'orders' };
const orders = client.db(database).collection('orders');
let schema: CollectionSchema;

beforeAll(async () => {
  schema = await documents.schema(name, 1_000);
});

interface Found {
  /** By the server alone, of the filter as it was given. */
  literally: number;
  count: number;
  notes: string[];
}

async function find(filter: Document): Promise<Found> {
  const query = documents.find({ ...name, filter: JSON.stringify(filter), skip: 0 });
  const result = await query.run({ ...plainOptions, schemaOf: () => schema });
  return {
    literally: await orders.countDocuments(filter),
    count: result.documents.length,
    notes: result.notes,
  };
}

describe('an empty result', () => {
  it.each<[string, Document, RegExp]>([
    [
      'another case of one of few words [DDB-FIND-08]',
      { status: 'Paid' },
      /status is never "Paid", but "paid"/,
    ],
    [
      'another case of one of many words [DDB-FIND-08]',
      { city: 'city 3' },
      /\{"city":"city 3"\} matches in another case only/,
    ],
    ['a number as a string', { quantity: 'three' }, /compared with the string "three", but holds int/],
    [
      'a range beyond',
      { created_at: { $gte: '2025-01-01' } },
      /created_at goes from .*2024-01-01.*is outside/,
    ],
    ['a field that is not there', { town: 'x' }, /town is in none of the 80 documents/],
    [
      'a condition that nothing matches',
      { status: 'paid', city: 'Nowhere' },
      /no document matches \{"city":"Nowhere"\}, whatever else/,
    ],
    [
      'conditions that do not meet',
      { status: 'paid', quantity: { $gte: 100 } },
      /documents with \{"status":"paid"\}, and with \{"quantity":\{"\$gte":100\}\}, but none with both/,
    ],
  ])('shows the reason: %s', async (_, filter, reason) => {
    const { count, literally, notes } = await find(filter);
    expect([literally, count]).toEqual([0, 0]);
    expect(
      notes.some((note) => reason.test(note)),
      notes.join('\n'),
    ).toBe(true);
    expect(notes.length).toBeLessThanOrEqual(3);
  });

  it('of a pipeline names the stage that leaves nothing', async () => {
    const stages = [{ $match: { status: 'open' } }, { $unwind: '$items' }];
    const query = documents.aggregate({ ...name, pipeline: stages.map((stage) => JSON.stringify(stage)) });
    const result = await query.run({ ...plainOptions, schemaOf: () => schema });
    expect(result.documents).toEqual([]);
    expect(result.notes).toEqual(['pipeline[0] matches documents; none is left by pipeline[1] ($unwind).']);
  });
});
