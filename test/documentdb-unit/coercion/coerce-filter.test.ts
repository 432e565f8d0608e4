/** The other form of a filter: what its strings look like is asked for beside them, by their shape alone. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal128, Long, ObjectId } from '../../../src/documentdb/bson/library.ts';
import { formatEjson, parseEjson } from '../../../src/documentdb/bson/parse/parse.ts';
import { coerceFilter } from '../../../src/documentdb/query/coercion/coerce-filter.ts';
import { tellCoerced } from '../../../src/documentdb/query/coercion/read-values.ts';
import { processorMsOf } from '../../support/processor-time.ts';

const READ_STRINGS = 4_000;

const HEX = '64f0c0ffee64f0c0ffee64f0';
const id = new ObjectId(HEX);
const day = new Date('2024-01-31T00:00:00Z');
const next = new Date('2024-02-01T00:00:00Z');

function coerced(filter: unknown): unknown {
  return coerceFilter(filter)?.filter ?? null;
}

function told(filter: unknown): string {
  return tellCoerced(coerceFilter(filter)?.strings ?? [], 'filter_dict');
}

describe('a string in the shape of an objectId, [WIRE-DB-18]', () => {
  it.each<[string, unknown, unknown]>([
    ['alone', { a: HEX }, { a: { $in: [HEX, id] } }],
    ['in capitals', { a: HEX.toUpperCase() }, { a: { $in: [HEX.toUpperCase(), id] } }],
    ['with $eq', { a: { $eq: HEX } }, { a: { $in: [HEX, id] } }],
    ['with $ne', { a: { $ne: HEX } }, { a: { $nin: [HEX, id] } }],
    ['with $in', { a: { $in: [HEX, null] } }, { a: { $in: [HEX, id, null] } }],
    ['with $nin', { a: { $nin: [HEX] } }, { a: { $nin: [HEX, id] } }],
    ['with $gt', { a: { $gt: HEX } }, { $or: [{ a: { $gt: HEX } }, { a: { $gt: id } }] }],
    ['with $not', { a: { $not: { $eq: HEX } } }, { $nor: [{ a: { $in: [HEX, id] } }] }],
    ['in $or', { $or: [{ a: HEX }, { b: true }] }, { $or: [{ a: { $in: [HEX, id] } }, { b: true }] }],
    [
      'in $and in $nor',
      { $nor: [{ $and: [{ a: HEX }] }] },
      { $nor: [{ $and: [{ a: { $in: [HEX, id] } }] }] },
    ],
    ['at a path', { 'items.0.a': HEX }, { 'items.0.a': { $in: [HEX, id] } }],
    [
      'in $elemMatch of documents',
      { items: { $elemMatch: { a: HEX, b: 1 } } },
      { items: { $elemMatch: { a: { $in: [HEX, id] }, b: 1 } } },
    ],
    [
      'in $elemMatch of values',
      { list: { $elemMatch: { $ne: HEX } } },
      { $or: [{ list: { $elemMatch: { $ne: HEX } } }, { list: { $elemMatch: { $nin: [HEX, id] } } }] },
    ],
    [
      'as a whole list',
      { list: [HEX, 1] },
      {
        list: {
          $in: [
            [HEX, 1],
            [id, 1],
          ],
        },
      },
    ],
    ['in a document compared as a whole', { a: { b: HEX } }, { a: { $in: [{ b: HEX }, { b: id }] } }],
    ['with $all', { list: { $all: [HEX, 'x'] } }, { $and: [{ list: { $in: [HEX, id] } }, { list: 'x' }] }],
    [
      'beside operators of other kinds, which stay',
      { a: { $exists: true, $ne: HEX }, b: 1 },
      { b: 1, $and: [{ a: { $exists: true } }, { a: { $nin: [HEX, id] } }] },
    ],
    [
      'beside an $and of the caller',
      { $and: [{ b: 1 }], a: { $lt: HEX } },
      { $and: [{ b: 1 }, { $or: [{ a: { $lt: HEX } }, { a: { $lt: id } }] }] },
    ],
  ])('%s: is asked for as one too', (_, filter, expected) => {
    expect(coerced(filter)).toEqual(expected);
  });

  it('in a document keeps the order of its names, since this is compared too', () => {
    const filter = parseEjson(`{"a": {"b": 1, "1": 2, "c": "${HEX}"}}`, 'filter_dict');
    expect(formatEjson(coerced(filter))).toBe(
      `{"a":{"$in":[{"b":1,"1":2,"c":"${HEX}"},{"b":1,"1":2,"c":{"$oid":"${HEX}"}}]}}`,
    );
  });

  it.each<[string, unknown]>([
    ['of another length', { a: `${HEX}0` }],
    ['in $regex', { a: { $regex: HEX } }],
    ['in $expr', { $expr: { $eq: ['$a', HEX] } }],
    ['in $type', { a: { $type: HEX } }],
    ['as a key', { [HEX]: 1 }],
    ['beside an operator named like a member of Object', { a: { $exists: true, constructor: HEX } }],
    ['in a comment', { $comment: HEX }],
  ])('stays alone %s', (_, filter) => {
    expect(coerceFilter(filter)).toBeNull();
  });
});

describe('a string in the shape of a date', () => {
  it('in a range has both ends compared in one type, so that an index narrows it', () => {
    const written = { $gte: '2024-01-31', $lt: '2024-02-01' };
    expect(coerced({ a: written })).toEqual({ $or: [{ a: written }, { a: { $gte: day, $lt: next } }] });
  });

  it.each([
    ['2024-01-31', '2024-01-31T00:00:00Z'],
    ['2024-01-31T10:00', '2024-01-31T10:00:00Z'],
    ['2024-01-31T10:00:05', '2024-01-31T10:00:05Z'],
    ['2024-01-31 10:00:05', '2024-01-31T10:00:05Z'],
    ['2024-01-31T10:00:05.25Z', '2024-01-31T10:00:05.250Z'],
    ['2024-01-31T10:00:05.123456789Z', '2024-01-31T10:00:05.123Z'],
    ['2024-01-31T10:00:05+02:00', '2024-01-31T08:00:05Z'],
    ['2024-01-31T10:00:05-0530', '2024-01-31T15:30:05Z'],
    ['0001-01-01', '0001-01-01T00:00:00Z'],
  ])('%s is %s', (text, expected) => {
    expect(coerced({ a: text })).toEqual({ a: { $in: [text, new Date(expected)] } });
  });

  it.each(['2024-02-30', '2024-13-01', '2024-01-31T25:00', '31.01.2024', 'yesterday', '2024-01-31T', ''])(
    '%s is none',
    (text) => {
      expect(coerceFilter({ a: text })).toBeNull();
    },
  );

  it('is reported with its reading', () => {
    expect(told({ a: { $gte: '2024-01-31', $lte: '2024-02-01' } })).toBe(
      'filter_dict matches nothing as written. This result also compares a with {"$date":"2024-01-31T00:00:00Z"} and ' +
        '{"$date":"2024-02-01T00:00:00Z"}, as the strings may have been meant. A date alone means its midnight, UTC. ' +
        '$lte leaves out the rest of that day; $lt of the next day has it.',
    );
    expect(told({ a: { $gte: '2024-01-01T10:00' } })).toMatch(/A time without an offset was taken as UTC\.$/);
    expect(told({ a: { $gte: '2024-01-01T10:00Z' } })).toMatch(/may have been meant\.$/);
  });
});

describe('a string in the shape of a number', () => {
  it.each<[string, unknown[]]>([
    ['5', [5]],
    ['-12', [-12]],
    ['0', [0]],
    ['9007199254740993', [Long.fromString('9007199254740993')]],
    ['9999999999999999999', [Decimal128.fromString('9999999999999999999')]],
    ['19.99', [19.99, Decimal128.fromString('19.99')]],
  ])('%s is a number: a fraction as a double and as a decimal', (text, values) => {
    expect(coerced({ a: text })).toEqual({ a: { $in: [text, ...values] } });
    expect(coerced({ a: { $gt: text } })).toEqual({
      $or: [{ a: { $gt: text } }, { a: { $gt: values[0] } }],
    });
  });

  it.each(['007', '1e5', '+5', '.5', '5.', '1,000', 'NaN', 'Infinity', '9'.repeat(40)])(
    '%s is none',
    (text) => {
      expect(coerceFilter({ a: text })).toBeNull();
    },
  );
});

it('many strings share one line', () => {
  const ids = Array.from({ length: 6 }, () => new ObjectId().toHexString());
  const text = told({ a: { $in: ids }, 'items.b': ids[0] });
  expect(text).toContain('compares a with {"$oid":"');
  expect(text).toContain('and 4 more and items.b with {"$oid":"');
});

const texts = fc.constantFrom(HEX, '2024-01-31', '2024-01-31T10:00', '19.99', '7', 'x', '');
const scalar = fc.oneof(texts, fc.integer(), fc.constant(null), fc.boolean());
const operators = ['$eq', '$ne', '$gt', '$lte', '$in', '$nin', '$all', '$regex', '$elemMatch', '$not'];
const filters = fc.letrec<{ value: unknown; filter: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...operators), tie('value'), { maxKeys: 3 }),
    tie('filter'),
  ),
  filter: fc.oneof(
    { maxDepth: 4 },
    fc.dictionary(fc.constantFrom('_id', 'a', 'b.c', 'd'), tie('value'), { maxKeys: 3 }),
    fc.record({ $or: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ $and: fc.array(tie('filter'), { maxLength: 3 }) }),
  ),
})).filter;

describe('for any filter', () => {
  it('nothing is written to, every change is reported, and a filter without such a string has no other form', () => {
    let changes = 0;
    fc.assert(
      fc.property(filters, (filter) => {
        const before = structuredClone(filter);
        const result = coerceFilter(filter);
        expect(filter).toEqual(before);
        if (result === null) return;
        changes++;
        expect(result.strings.length).toBeGreaterThan(0);
        const written = JSON.stringify(result.filter);
        for (const { text } of result.strings) expect(written).toContain(JSON.stringify(text));
      }),
      { numRuns: 500 },
    );
    expect(changes).toBeGreaterThan(100);
  });

  it('any JSON at all is read without failing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (filter) => {
        coerceFilter(filter);
      }),
    );
  });

  it('the largest is read within 100 ms, and one with more strings than are tried has no other form', () => {
    const listing = (length: number) => ({
      a: { $in: Array.from({ length }, (_, index) => `${index}.5`) },
    });
    const largest = listing(READ_STRINGS - 1);
    const ms = processorMsOf(() => {
      const { strings } = coerceFilter(largest) ?? { strings: [] };
      expect(strings).toHaveLength(3_999);
      expect(tellCoerced(strings, 'filter_dict').length).toBeLessThan(300);
    });
    expect(ms).toBeLessThan(100);
    for (const many of [READ_STRINGS, 90_000]) expect(coerceFilter(listing(many))).toBeNull();
  });
});
