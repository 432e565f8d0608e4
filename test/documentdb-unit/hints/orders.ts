/** The schema of an imagined collection of orders, as a sample of a messy one might show it. */
import type { CollectionSchema, FieldSchema, FieldType } from '../../../src/model/document-schema.ts';

export const SAMPLED = 1_000;

/** @param types Counts by type; they need not be all of the documents. */
export function field(
  path: string,
  types: Record<string, number>,
  more: Partial<FieldSchema> = {},
): FieldSchema {
  return {
    path,
    types: typesOf(types),
    probability: Math.min(1, total(types) / SAMPLED),
    examples: [],
    ...more,
  };
}

export function typesOf(types: Record<string, number>): FieldType[] {
  return Object.entries(types).map(([type, count]) => ({ type, count, probability: count / SAMPLED }));
}

function total(types: Record<string, number>): number {
  return Object.values(types).reduce((sum, count) => sum + count, 0);
}

export function ordersSchema(more: Partial<CollectionSchema> = {}): CollectionSchema {
  return {
    name: { database: 'shop', collection: 'orders' },
    type: 'collection',
    sampled: SAMPLED,
    sampleMethod: 'random',
    documentCount: 50_000,
    fields: [
      field('_id', { objectId: SAMPLED }),
      field('customer_id', { objectId: SAMPLED }),
      field('legacy_id', { objectId: 600, string: 400 }),
      field(
        'status',
        { string: SAMPLED },
        {
          enum: [
            { value: 'paid', count: 600 },
            { value: 'shipped', count: 300 },
            { value: 'cancelled', count: 100 },
          ],
        },
      ),
      field('created_at', { date: 990, null: 10 }, minMax('2023-01-01T00:00:00Z', '2024-12-31T23:59:59Z')),
      field('closed_at', { date: 500, string: 100 }),
      field('quantity', { int: 900, long: 100 }, { min: 1, max: 99 }),
      field(
        'total',
        { decimal: SAMPLED },
        { min: { $numberDecimal: '0.50' }, max: { $numberDecimal: '999.99' } },
      ),
      field('paid', { bool: SAMPLED }),
      field('zip', { string: SAMPLED }, { examples: ['01099', '80331'] }),
      field('note', { null: SAMPLED }),
      field('token', { binData: SAMPLED }),
      field('extra', { object: SAMPLED }),
      field(
        'address',
        { object: SAMPLED },
        {
          fields: [
            field('address.city', { string: SAMPLED }),
            field('address.firstName', { string: SAMPLED }),
          ],
        },
      ),
      field(
        'tags',
        {},
        {
          types: [{ type: 'array', count: SAMPLED, probability: 1, elements: typesOf({ string: 3_000 }) }],
        },
      ),
      field(
        'watchers',
        {},
        {
          types: [{ type: 'array', count: SAMPLED, probability: 1, elements: typesOf({ objectId: 3_000 }) }],
        },
      ),
      field(
        'items',
        {},
        {
          types: [{ type: 'array', count: SAMPLED, probability: 1, elements: typesOf({ object: 3_000 }) }],
          fields: [
            field('items.product_id', { objectId: 3_000 }),
            field('items.sku', { string: 3_000 }),
            field('items.at', { date: 3_000 }),
          ],
        },
      ),
      field(
        'counts',
        { object: SAMPLED },
        {
          fields: [field('counts.<key>', { int: SAMPLED }, { keys: 200 })],
        },
      ),
    ],
    indexes: [
      { name: '_id_', key: { _id: 1 }, unique: true },
      { name: 'customer', key: { customer_id: 1, created_at: -1 }, unique: false },
      { name: 'sku', key: { 'items.sku': 1 }, unique: false },
      { name: 'zip', key: { zip: 1 }, unique: false },
    ],
    notes: [],
    ...more,
  };
}

function minMax(min: string, max: string): Partial<FieldSchema> {
  return { min: { $date: min }, max: { $date: max } };
}
