/**
 * Defines the collections of the demo data with their indexes. A document is made on demand, from the seed and its
 * place, so that a set of any size takes no more memory than its batches in flight.
 */
import type { Document } from 'bson';
import type { IndexDescription } from 'mongodb';
import { customerDocument } from './customers.ts';
import { eventDocument } from './events.ts';
import { orderDocument } from './orders.ts';
import { productDocument } from './products.ts';
import type { Shop } from './shop.ts';

export const collectionNames = ['customers', 'products', 'orders', 'events'] as const;
export type DemoCollection = (typeof collectionNames)[number];

const documentAt: Record<DemoCollection, (shop: Shop, place: number) => Document> = {
  customers: customerDocument,
  products: productDocument,
  orders: orderDocument,
  events: eventDocument,
};

/** `products.category` has none on purpose: a filter by it shows the use of an index. */
export const indexes: Record<DemoCollection, IndexDescription[]> = {
  customers: [{ key: { email: 1 }, name: 'email_1', unique: true }],
  products: [{ key: { sku: 1 }, name: 'sku_1', unique: true }],
  orders: [
    { key: { created_at: 1 }, name: 'created_at_1' },
    { key: { region: 1, created_at: 1 }, name: 'region_1_created_at_1' },
    { key: { customer_id: 1 }, name: 'customer_id_1' },
  ],
  events: [{ key: { at: 1 }, name: 'at_1' }],
};

export const views: Record<string, { viewOn: DemoCollection; pipeline: Document[] }> = {
  monthly_orders: {
    viewOn: 'orders',
    pipeline: [
      {
        $group: {
          _id: { month: { $dateToString: { date: '$created_at', format: '%Y-%m' } }, region: '$region' },
          orders: { $sum: 1 },
          revenue: { $sum: '$total' },
        },
      },
      { $project: { _id: 1, month: '$_id.month', region: '$_id.region', orders: 1, revenue: 1 } },
    ],
  },
};

/** Ordered by id, which is the order of time. */
export function* documentsOf(shop: Shop, collection: DemoCollection): Generator<Document> {
  for (let place = 0; place < shop[collection]; place++) yield documentAt[collection](shop, place);
}
