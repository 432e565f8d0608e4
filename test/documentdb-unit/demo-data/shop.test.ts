/** The demo data without a database: the same each time, whole, and as untidy as it is meant to be. */
import { createHash } from 'node:crypto';
import { type Decimal128, type Document, type ObjectId, serialize } from 'bson';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { collectionNames, type DemoCollection, documentsOf } from '../../../src/demo-database/data/load.ts';
import { orderDocument } from '../../../src/demo-database/data/orders.ts';
import { period, planShop, type Shop } from '../../../src/demo-database/data/shop.ts';
import { regions } from '../../../src/demo-database/data/words.ts';
import { limits } from '../../../src/model/limits.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const sizes = fc.integer({ min: 100, max: 300 });

const shop = planShop(10_000);
const made = {} as Record<DemoCollection, Document[]>;

beforeAll(() => {
  for (const name of collectionNames) made[name] = [...documentsOf(shop, name)];
});

describe('the same seed', () => {
  it('gives the same bytes, another one others', () => {
    fc.assert(
      fc.property(seeds, seeds, sizes, (seed, other, documents) => {
        fc.pre(seed !== other);
        expect(digestOf(planShop(documents, seed))).toBe(digestOf(planShop(documents, seed)));
        expect(digestOf(planShop(documents, seed))).not.toBe(digestOf(planShop(documents, other)));
      }),
      { numRuns: 15 },
    );
  });

  it('gives the same bytes on every machine: whoever changes them raises the version of the mark', () => {
    expect(digestOf(planShop(1_000))).toBe(
      'fa8f4533ab42f2d45ad3e95da9954d67cb2fdbd430f344b2ecd66e9024f99c2b',
    );
  });

  it('gives one document without the others', () => {
    for (const place of [0, 17, shop.orders - 1]) {
      expect(serialize(orderDocument(shop, place))).toEqual(serialize(made.orders[place] as Document));
    }
  });
});

describe('the size', () => {
  it('is the number asked for, divided among the collections', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 10_000_000 }), (documents) => {
        const { customers, products, orders, events } = planShop(documents);
        expect(customers + products + orders + events).toBe(documents);
        expect(Math.min(customers, products, orders, events)).toBeGreaterThan(0);
      }),
    );
    for (const name of collectionNames) expect(made[name]).toHaveLength(shop[name]);
    expect(planShop(100_000)).toMatchObject({
      customers: 10_000,
      products: 2_000,
      orders: 48_000,
      events: 40_000,
    });
  });

  it.each([0, -1, 99, 10_000_001, 1e9, 500.5, Number.NaN])('is refused when it is %s', (documents) => {
    expect(() => planShop(documents)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        fields: expect.objectContaining({ parameter: 'documents' }),
      }),
    );
  });

  it('of an order is about 700 bytes', () => {
    const bytes = made.orders.reduce((sum, order) => sum + serialize(order).length, 0);
    expect(bytes / made.orders.length).toBeGreaterThan(650);
    expect(bytes / made.orders.length).toBeLessThan(800);
  });

  it('fits ids: the largest place does not reach into the other bytes', () => {
    expect(limits.documents.demo.documents.max).toBeLessThan(2 ** 24);
  });
});

describe('related documents of the shop', () => {
  it('an order’s total is the sum of its items, an item’s that of its units less the discount', () => {
    for (const { items, total } of made.orders) {
      for (const item of items) {
        const part = (100 - (item.discount_percent ?? 0)) / 100;
        expect(cents(item.total)).toBe(Math.round(cents(item.unit_price) * item.quantity * part));
      }
      expect(cents(total)).toBe(items.reduce((sum: number, item: Document) => sum + cents(item['total']), 0));
      expect(cents(total)).toBeGreaterThan(0);
    }
  });

  it('every reference leads to a document', () => {
    const customers = byId(made.customers);
    const products = byId(made.products);
    const orders = byId(made.orders);
    for (const order of made.orders) {
      expect(customers.get(`${order['customer_id']}`)?.['region']).toBe(order['region']);
      for (const { product_id, sku, name, unit_price } of order['items']) {
        expect(products.get(`${product_id}`)).toMatchObject({ sku, name, price: unit_price });
      }
    }
    for (const event of made.events) {
      if (event['customer_id']) expect(customers.has(`${event['customer_id']}`)).toBe(true);
      if (event['product_id']) expect(products.has(`${event['product_id']}`)).toBe(true);
      const order = orders.get(`${event['order_id']}`);
      if (event['type'] === 'order_placed') expect(order?.['customer_id']).toEqual(event['customer_id']);
      expect(Object.keys(event['cart'] ?? {}).filter((key) => !products.has(key))).toEqual([]);
    }
    const favourites = made.customers.flatMap(({ favourites }) => Object.keys(favourites ?? {}));
    expect(favourites.length).toBeGreaterThan(100);
    expect(favourites.filter((key) => !products.has(key))).toEqual([]);
  });

  it('nobody buys before they joined, nor what was not sold yet', () => {
    const since = (id: ObjectId) => id.getTimestamp().getTime();
    for (const { customer_id, created_at, items } of made.orders) {
      expect(since(customer_id)).toBeLessThanOrEqual(created_at.getTime());
      for (const { product_id } of items) expect(since(product_id)).toBeLessThanOrEqual(created_at.getTime());
    }
  });

  it('ids, addresses of mail and numbers of stock are each there once', () => {
    const ids = collectionNames.flatMap((name) => made[name].map(({ _id }) => `${_id}`));
    expect(new Set(ids).size).toBe(10_000);
    expect(new Set(made.customers.map(({ email }) => email)).size).toBe(shop.customers);
    expect(new Set(made.products.map(({ sku }) => sku)).size).toBe(shop.products);
    expect(made.customers.filter(({ email }) => !/^[a-z]+\.[a-z]+\.\d+@example\.\w+$/.test(email))).toEqual(
      [],
    );
  });
});

describe('time', () => {
  it('runs over two years, in the order of the documents', () => {
    const times = [made.orders.map(({ created_at }) => created_at), made.events.map(({ at }) => at)];
    for (const dates of times) {
      expect(dates.every((date) => date instanceof Date)).toBe(true);
      expect(dates.toSorted((a, b) => a - b)).toEqual(dates);
      expect(dates[0].getTime()).toBeGreaterThanOrEqual(period.from);
      expect(dates.at(-1).toISOString()).toMatch(/^2026-06-30/);
    }
  });

  it('has seasons: every region buys each month, and most of all at the end of the year', () => {
    const ordersIn = (month: string, region: string) =>
      made.orders.filter(
        (order) => order['region'] === region && order['created_at'].toISOString().startsWith(month),
      ).length;
    for (const { name } of regions) {
      for (const month of ['2024-07', '2025-02', '2026-06']) expect(ordersIn(month, name)).toBeGreaterThan(0);
    }
    expect(ordersIn('2025-11', 'north-america')).toBeGreaterThan(2 * ordersIn('2025-02', 'north-america'));
    expect(ordersIn('2025-11', 'europe')).toBeGreaterThan(4 * ordersIn('2025-11', 'africa'));
  });
});

describe('deliberate disorder of the shop', () => {
  it.each<
    [string, DemoCollection, (document: Document) => unknown, Record<string, [least: number, most: number]>]
  >([
    ['codes', 'customers', (d) => d['address'].postal_code, { string: [0.8, 0.98], number: [0.02, 0.2] }],
    ['dates as text', 'customers', (d) => d['joined_at'], { Date: [0.93, 0.99], string: [0.01, 0.07] }],
    [
      'ids of an older system',
      'customers',
      (d) => d['legacy_id'],
      { number: [0.2, 0.5], string: [0.03, 0.2], missing: [0.4, 0.8] },
    ],
    [
      'what may be null or missing',
      'customers',
      (d) => d['phone'],
      { string: [0.4, 0.7], null: [0.02, 0.1], missing: [0.3, 0.5] },
    ],
    [
      'dates of carriers',
      'orders',
      (d) => d['shipping'].delivered_at,
      { Date: [0.8, 0.97], string: [0.01, 0.05], missing: [0.02, 0.2] },
    ],
    [
      'references of banks',
      'orders',
      (d) => d['payment'].reference,
      { string: [0.8, 0.9], number: [0.1, 0.2] },
    ],
    ['coupons', 'orders', (d) => d['coupon'], { string: [0.1, 0.3], null: [0.02, 0.1], missing: [0.6, 0.8] }],
    [
      'who it was',
      'events',
      (d) => d['customer_id'],
      { ObjectId: [0.6, 0.9], null: [0.03, 0.15], missing: [0.1, 0.3] },
    ],
    ['ratings', 'products', (d) => d['rating'], { Object: [0.7, 0.98], null: [0.02, 0.3] }],
  ])('%s', (_, collection, fieldOf, shares) => {
    const found = Map.groupBy(made[collection], (document) => kindOf(fieldOf(document)));
    expect([...found.keys()].toSorted()).toEqual(Object.keys(shares).toSorted());
    for (const [kind, [least, most]] of Object.entries(shares)) {
      const share = (found.get(kind)?.length ?? 0) / made[collection].length;
      expect(share, kind).toBeGreaterThan(least);
      expect(share, kind).toBeLessThan(most);
    }
  });

  it('numbers that no double holds', () => {
    const traces: bigint[] = made.events.map(({ trace }) => trace);
    expect(traces.every((trace) => trace > 2n ** 62n && trace < 2n ** 63n)).toBe(true);
    expect(traces.filter((trace) => BigInt(Number(trace)) === trace).length).toBeLessThan(
      traces.length / 100,
    );
  });

  it('long texts and names in many scripts', () => {
    const lengths = made.events.map(({ text }) => text?.length ?? 0);
    expect(Math.max(...lengths)).toBeGreaterThan(1_500);
    const names = made.customers.map(({ name }) => `${name.first} ${name.last}`).join(' ');
    for (const script of ['Latin', 'Greek', 'Arabic', 'Han', 'Hangul', 'Devanagari']) {
      expect(names).toMatch(new RegExp(`\\p{Script=${script}}`, 'u'));
    }
  });
});

function digestOf(shop: Shop): string {
  const hash = createHash('sha256');
  for (const name of collectionNames) {
    for (const document of documentsOf(shop, name)) hash.update(serialize(document));
  }
  return hash.digest('hex');
}

function byId(documents: Document[]): Map<string, Document> {
  return new Map(documents.map((document) => [`${document['_id']}`, document]));
}

/** Of an amount with two decimals. */
function cents(amount: Decimal128): number {
  expect(`${amount}`).toMatch(/^\d+\.\d\d$/);
  return Number(`${amount}`.replace('.', ''));
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return typeof value === 'object' ? value.constructor.name : typeof value;
}
