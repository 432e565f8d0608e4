/** A query that would read all of a large collection carries a note with the indexes that there are. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BSONRegExp } from '../../../src/documentdb/bson/library.ts';
import { indexNotes } from '../../../src/documentdb/hints/index-use.ts';
import type { IndexInfo } from '../../../src/model/document-schema.ts';
import { ordersSchema } from './orders.ts';

const schema = ordersSchema();

function notes(filter: unknown, sort: string[] = [], indexes: IndexInfo[] = schema.indexes): string[] {
  return indexNotes({ filter, sort, schema: { ...schema, indexes } });
}

function index(key: IndexInfo['key'], more: Partial<IndexInfo> = {}): IndexInfo {
  return { name: 'x', key, unique: false, ...more };
}

describe('an index narrows', () => {
  it.each<[string, unknown]>([
    ['its first field', { customer_id: 1, paid: true }],
    ['_id', { _id: 1 }],
    ['a range', { customer_id: { $gte: 1 } }],
    ['$in', { zip: { $in: ['1'] } }],
    ['a null', { zip: null }],
    ['what $and holds', { $and: [{ paid: true }, { $and: [{ zip: '1' }] }] }],
    ['all branches of $or', { $or: [{ zip: '1' }, { paid: true, _id: 1 }] }],
    ['$or inside $and', { $and: [{ $or: [{ zip: '1' }, { zip: '2' }] }] }],
    ['elements', { 'items.sku': 'x' }],
    ['an element by its place', { 'items.0.sku': 'x' }],
    ['$elemMatch', { items: { $elemMatch: { sku: 'x' } } }],
    ['an anchored expression', { zip: { $regex: '^01' } }],
    ['an anchored bare expression', { zip: new BSONRegExp('^\\+49') }],
  ])('%s', (_, filter) => {
    expect(notes(filter)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['a field without one', { paid: true }],
    ['the second field of one', { created_at: { $gte: 1 } }],
    ['$ne', { zip: { $ne: '1' } }],
    ['$nin', { zip: { $nin: ['1'] } }],
    ['$not', { zip: { $not: { $eq: '1' } } }],
    ['$exists: false', { zip: { $exists: false } }],
    ['$nor', { $nor: [{ zip: '1' }] }],
    ['$or with a branch without', { $or: [{ zip: '1' }, { paid: true }] }],
    ['an empty $or', { $or: [] }],
    ['an expression anywhere', { zip: /1/ }],
    ['an expression in any case', { zip: { $regex: '^01', $options: 'i' } }],
    ['an expression of any lines', { zip: { $regex: '^01', $options: 'm' } }],
    ['an expression with a choice', { zip: { $regex: '^01|^02' } }],
    ['an expression without a beginning', { zip: { $regex: '^.*1' } }],
    ['an expression whose beginning may be missing', { zip: { $regex: '^1?2' } }],
    ['a computed condition', { $expr: { $eq: ['$zip', '1'] } }],
    ['a place', { zip: { $near: [1, 2] } }],
    ['the beginning of a path', { items: { sku: 'x' } }],
  ])('not %s', (_, filter) => {
    expect(notes(filter)).toHaveLength(1);
  });

  it.each<[string, IndexInfo, unknown, boolean]>([
    ['hashed: equality', index({ a: 'hashed' }), { a: 1 }, true],
    ['hashed: a range', index({ a: 'hashed' }), { a: { $gt: 1 } }, false],
    ['text: $text', index({ _fts: 'text', _ftsx: 1 }), { $text: { $search: 'x' } }, true],
    ['text: equality', index({ a: 'text' }), { a: 'x' }, false],
    ['2dsphere: near', index({ a: '2dsphere' }), { a: { $near: {} } }, true],
    ['2dsphere: equality', index({ a: '2dsphere' }), { a: 1 }, false],
    ['sparse: a value', index({ a: 1 }, { sparse: true }), { a: 1 }, true],
    ['sparse: null', index({ a: 1 }, { sparse: true }), { a: null }, false],
    ['sparse: null among others', index({ a: 1 }, { sparse: true }), { a: { $in: [1, null] } }, false],
    ['partial: it may', index({ a: 1 }, { partial: true }), { a: 1 }, true],
    ['wildcard', index({ '$**': 1 }), { 'any.thing': 1 }, true],
    ['wildcard below', index({ 'a.$**': 1 }), { 'a.b': 1 }, true],
    ['wildcard elsewhere', index({ 'a.$**': 1 }), { b: 1 }, false],
    ['descending', index({ a: -1 }), { a: 1 }, true],
  ])('%s', (_, only, filter, narrows) => {
    expect(notes(filter, [], [only])).toHaveLength(narrows ? 0 : 1);
  });
});

describe('an index orders', () => {
  it.each<[string, unknown, string[], number]>([
    ['all documents by its first field', {}, ['zip'], 0],
    ['all by _id', undefined, ['_id'], 0],
    ['not by another field', {}, ['paid'], 1],
    ['not what a filter without an index selects', { paid: true }, ['zip'], 1],
    ['and nothing need be ordered', {}, [], 0],
  ])('%s', (_, filter, sort, count) => {
    expect(notes(filter, sort)).toHaveLength(count);
  });

  it('not if it lacks documents', () => {
    expect(notes({}, ['a'], [index({ a: 1 }, { sparse: true })])).toHaveLength(1);
    expect(notes({}, ['a'], [index({ a: 1 }, { partial: true })])).toHaveLength(1);
  });
});

describe('the note', () => {
  it('names the indexes and what to do', () => {
    expect(notes({ paid: true })).toEqual([
      'filter_dict: no index narrows it, so about 50000 documents may be read. A condition on the first field of an ' +
        'index does: customer_id + created_at, items.sku, zip and _id.',
    ]);
    expect(notes({}, ['paid'])).toEqual([
      'sort: no index has this order, so about 50000 documents are read and sorted. Indexes have the order of ' +
        'customer_id, items.sku, zip and _id; or narrow it by a filter.',
    ]);
  });

  it('names indexes that lack documents or are of another kind', () => {
    const [note] = notes(
      { b: 1 },
      [],
      [
        index({ a: 1 }, { partial: true }),
        index({ c: 1 }, { sparse: true, name: 'y' }),
        index({ d: '2dsphere' }, { name: 'z' }),
      ],
    );
    expect(note).toContain('a (partial), c (sparse), d (2dsphere) and _id.');
  });

  it.each<[string, Partial<typeof schema>]>([
    ['small collections', { documentCount: 9_999 }],
    ['views', { type: 'view' }],
    ['time series', { type: 'timeseries' }],
  ])('is not made for %s', (_, more) => {
    expect(indexNotes({ filter: { paid: true }, schema: { ...schema, ...more } })).toEqual([]);
  });

  it('is never more than one, whatever the filter', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (filter) => {
        expect(notes(filter).length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
