import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderOfUse } from '../../../src/control/documents/order-of-use.ts';
import type { SandhavenError } from '../../../src/model/errors.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';

const REMEMBERED_KEYS = 1_000;
const REMEMBERED_COLLECTIONS = 10_000;

const orders = { database: 'shop', collection: 'orders' };
const customers = { database: 'shop', collection: 'customers' };

function refusal(
  order: OrderOfUse,
  key: string,
  step: 'discovered' | 'schema',
  ...sources: (typeof orders)[]
) {
  try {
    order.checkNow(key, sources, step);
  } catch (error) {
    const { code, message, fields } = error as SandhavenError;
    return { code, message, hint: fields.hint };
  }
  return null;
}

describe('the order of use', () => {
  it('[DDB-ORDER-01] refuses a collection that was not discovered, with the call to make first', () => {
    expect(refusal(new OrderOfUse('enforce', createAlone()), 'a', 'discovered', orders)).toEqual({
      code: 'failed_precondition',
      message: "The collections of database 'shop' were not discovered yet.",
      hint: 'Call DocumentDb.DiscoverCollections with {"database_name":"shop"} first.',
    });
  });

  it('[DDB-ORDER-02] refuses to query a collection whose schema was not loaded, and any other of the query', () => {
    const order = new OrderOfUse('enforce', createAlone());
    order.discovered('a', 'shop', ['orders', 'customers']);
    expect(refusal(order, 'a', 'discovered', orders)).toBeNull();
    expect(refusal(order, 'a', 'schema', orders)).toEqual({
      code: 'failed_precondition',
      message: "The schema of collection 'orders' was not loaded yet.",
      hint: 'Call DocumentDb.GetCollectionSchema with {"database_name":"shop","collection_name":"orders"} first.',
    });
    order.loaded('a', orders);
    expect(refusal(order, 'a', 'schema', orders)).toBeNull();
    expect(refusal(order, 'a', 'schema', orders, customers)?.hint).toContain('"customers"');
    order.loaded('a', customers);
    expect(refusal(order, 'a', 'schema', orders, customers)).toBeNull();
  });

  it('is kept for each key', () => {
    const order = new OrderOfUse('enforce', createAlone());
    order.discovered('a', 'shop', ['orders']);
    order.loaded('a', orders);
    expect(refusal(order, 'b', 'schema', orders)?.code).toBe('failed_precondition');
  });

  it('names the nearest of what was discovered, and how to look again', () => {
    const order = new OrderOfUse('enforce', createAlone());
    order.discovered('a', 'shop', ['orders', 'customers']);
    const mistaken = { database: 'shop', collection: 'order' };
    expect(refusal(order, 'a', 'schema', mistaken)).toEqual({
      code: 'not_found',
      message: "There was no collection 'order' in database 'shop' when it was discovered.",
      hint: 'Did you mean orders? DocumentDb.DiscoverCollections lists what is there now.',
    });
  });

  it('returns the same advice in notes when it only advises', () => {
    const order = new OrderOfUse('advise', createAlone());
    expect(order.checkNow('a', [orders], 'schema')).toEqual([
      "The collections of database 'shop' were not discovered yet. " +
        'Call DocumentDb.DiscoverCollections with {"database_name":"shop"} first.',
    ]);
    order.discovered('a', 'shop', ['orders']);
    order.loaded('a', orders);
    expect(order.checkNow('a', [orders], 'schema')).toEqual([]);
  });

  it('does not mix names up, whatever they are made of', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (a, b, c, d) => {
        const order = new OrderOfUse('enforce', createAlone());
        order.discovered('k', a, [b]);
        order.discovered('k', c, a === c ? [b, d] : [d]);
        order.loaded('k', { database: a, collection: b });
        expect(refusal(order, 'k', 'schema', { database: a, collection: b })).toBeNull();
        const same = a === c && b === d;
        expect(refusal(order, 'k', 'schema', { database: c, collection: d }) === null).toBe(same);
      }),
    );
  });

  it('remembers so many keys, and forgets the one that was used longest ago', () => {
    const order = new OrderOfUse('enforce', createAlone());
    for (let key = 0; key <= REMEMBERED_KEYS; key++) {
      order.discovered(`k${key}`, 'shop', ['orders']);
      if (key > 0) expect(refusal(order, 'k0', 'discovered', orders)).toBeNull();
    }
    expect(refusal(order, 'k1', 'discovered', orders)?.code).toBe('failed_precondition');
  });

  it('remembers as many keys as its bound, in any order of use', () => {
    const order = new OrderOfUse('enforce', createAlone());
    const keys = Array.from({ length: REMEMBERED_KEYS }, (_, index) => `k${index}`);
    for (const key of keys) order.discovered(key, 'shop', ['orders']);
    expect(keys.filter((key) => refusal(order, key, 'discovered', orders) !== null)).toEqual([]);
  });

  it('remembers a database with more collections than its bound', () => {
    const order = new OrderOfUse('enforce', createAlone());
    const many = Array.from({ length: REMEMBERED_COLLECTIONS + 1 }, (_, index) => `c${index}`);
    order.discovered('a', 'big', many);
    expect(refusal(order, 'a', 'discovered', { database: 'big', collection: 'c0' })).toBeNull();
  });

  it('remembers so many collections of a key', () => {
    const order = new OrderOfUse('enforce', createAlone());
    const many = Array.from({ length: REMEMBERED_COLLECTIONS }, (_, index) => `c${index}`);
    order.discovered('a', 'shop', ['orders']);
    order.discovered('a', 'big', many);
    expect(refusal(order, 'a', 'discovered', orders)?.code).toBe('failed_precondition');
    expect(refusal(order, 'a', 'discovered', { database: 'big', collection: 'c7' })).toBeNull();
  });

  it('remembers so many schemas of a key, and forgets the one that was loaded longest ago', () => {
    const order = new OrderOfUse('enforce', createAlone());
    const many = Array.from({ length: REMEMBERED_COLLECTIONS }, (_, index) => `c${index}`);
    const name = (collection: string) => ({ database: 'big', collection });
    order.discovered('a', 'big', many);
    for (const collection of many) order.loaded('a', name(collection));
    expect(refusal(order, 'a', 'schema', name('c0'))).toBeNull();
    order.loaded('a', name('c0'));
    order.loaded('a', orders);
    expect(refusal(order, 'a', 'schema', name('c0'))).toBeNull();
    expect(refusal(order, 'a', 'schema', name('c1'))?.message).toContain("'c1' was not loaded");
    expect(refusal(order, 'a', 'schema', name('c2'))).toBeNull();
  });

  it('forgets no database while all collections fit', () => {
    const order = new OrderOfUse('enforce', createAlone());
    const many = Array.from({ length: REMEMBERED_COLLECTIONS - 1 }, (_, index) => `c${index}`);
    order.discovered('a', 'shop', ['orders']);
    order.discovered('a', 'big', many);
    expect(refusal(order, 'a', 'discovered', orders)).toBeNull();
    order.discovered('a', 'shop', ['orders']);
    order.discovered('a', 'other', ['x']);
    expect(refusal(order, 'a', 'discovered', orders)).toBeNull();
    expect(refusal(order, 'a', 'discovered', { database: 'big', collection: 'c0' })?.code).toBe(
      'failed_precondition',
    );
  });

  it('suggests at most three names, and none that is far', () => {
    const order = new OrderOfUse('enforce', createAlone());
    order.discovered('a', 'shop', ['order1', 'order2', 'order3', 'order4']);
    const wrong = (collection: string) =>
      refusal(order, 'a', 'schema', { database: 'shop', collection })?.hint;
    expect(wrong('order')).toBe(
      'Did you mean order1 or order2 or order3? DocumentDb.DiscoverCollections lists what is there now.',
    );
    expect(() => order.checkNow('a', [{ database: 'shop', collection: 'zebra' }], 'schema')).toThrow(
      expect.objectContaining({ fields: expect.objectContaining({ resource: 'collection' }) }),
    );
    expect(wrong('zebra')).toBe('DocumentDb.DiscoverCollections lists what is there now.');
  });
});
