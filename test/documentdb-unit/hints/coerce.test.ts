/** Strings become what the schema says that they mean, and never in silence. */
import { Decimal128, Double, Long, ObjectId } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatEjson, parseEjson } from '../../../src/documentdb/bson/parse.ts';
import { coerceFilter, coercePipeline } from '../../../src/documentdb/hints/coerce.ts';
import { limits } from '../../../src/model/limits.ts';
import { field, ordersSchema, typesOf } from './orders.ts';

const schema = ordersSchema();
const HEX = '64f0c0ffee64f0c0ffee64f0';
const id = new ObjectId(HEX);
const day = new Date('2024-01-31T00:00:00Z');

function coerced(filter: unknown): unknown {
  return coerceFilter(filter, schema).filter;
}

describe('an id given as a string', () => {
  it.each<[string, unknown, unknown]>([
    ['alone', { customer_id: HEX }, { customer_id: id }],
    ['in capitals', { customer_id: HEX.toUpperCase() }, { customer_id: id }],
    ['of the document', { _id: HEX }, { _id: id }],
    ['with $eq', { customer_id: { $eq: HEX } }, { customer_id: { $eq: id } }],
    ['with $ne', { customer_id: { $ne: HEX } }, { customer_id: { $ne: id } }],
    ['with $gt', { _id: { $gt: HEX } }, { _id: { $gt: id } }],
    ['with $in', { customer_id: { $in: [HEX, null] } }, { customer_id: { $in: [id, null] } }],
    ['with $nin', { customer_id: { $nin: [HEX] } }, { customer_id: { $nin: [id] } }],
    ['with $not', { customer_id: { $not: { $eq: HEX } } }, { customer_id: { $not: { $eq: id } } }],
    [
      'in $or',
      { $or: [{ customer_id: HEX }, { paid: true }] },
      { $or: [{ customer_id: id }, { paid: true }] },
    ],
    [
      'in $and in $nor',
      { $nor: [{ $and: [{ customer_id: HEX }] }] },
      { $nor: [{ $and: [{ customer_id: id }] }] },
    ],
    ['in a list of documents', { 'items.product_id': HEX }, { 'items.product_id': id }],
    ['at a place of a list', { 'items.0.product_id': HEX }, { 'items.0.product_id': id }],
    [
      'in $elemMatch',
      { items: { $elemMatch: { product_id: HEX } } },
      { items: { $elemMatch: { product_id: id } } },
    ],
    ['among values', { watchers: HEX }, { watchers: id }],
    ['as a whole list', { watchers: [HEX] }, { watchers: [id] }],
    ['with $all', { watchers: { $all: [HEX] } }, { watchers: { $all: [id] } }],
    ['in a document compared as a whole', { items: { product_id: HEX } }, { items: { product_id: id } }],
  ])('%s', (_, filter, expected) => {
    expect(coerced(filter)).toEqual(expected);
  });

  it('in a document keeps the order of its names, since this is compared too', () => {
    const filter = parseEjson(`{"items": {"b": 1, "1": 2, "product_id": "${HEX}"}}`, 'filter_dict');
    expect(formatEjson(coerced(filter))).toBe(`{"items":{"b":1,"1":2,"product_id":{"$oid":"${HEX}"}}}`);
  });

  it.each<[string, unknown]>([
    ['on a field of strings', { zip: HEX }],
    ['on a field that is not there', { nowhere: HEX }],
    ['of another length', { customer_id: `${HEX}0` }],
    ['in $regex', { customer_id: { $regex: HEX } }],
    ['in $expr', { $expr: { $eq: ['$customer_id', HEX] } }],
    ['in $type', { customer_id: { $type: HEX } }],
    ['as a key', { [HEX]: 1 }],
    [
      'beside an operator named like a member of Object',
      { customer_id: { $exists: true, constructor: HEX } },
    ],
  ])('stays one %s', (_, filter) => {
    const result = coerceFilter(filter, schema);
    expect(result.filter).toBe(filter);
    expect(result.notes).toEqual([]);
  });

  it('is told', () => {
    expect(coerceFilter({ customer_id: HEX }, schema).notes).toEqual([
      `filter_dict: customer_id was given as a string; the field holds objectId, so {"$oid":"${HEX}"} was used.`,
    ]);
  });

  it('is told once for many', () => {
    const ids = Array.from({ length: 6 }, () => new ObjectId().toHexString());
    const filter = { customer_id: { $in: ids }, 'items.product_id': ids[0] };
    const { notes } = coerceFilter(filter, schema);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(
      'customer_id and items.product_id were given as strings; the fields hold objectId',
    );
    expect(notes[0]).toContain('and 2 more');
  });
});

describe('a date given as a string', () => {
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
    expect(coerced({ created_at: { $gte: text } })).toEqual({ created_at: { $gte: new Date(expected) } });
  });

  it.each([
    '2024-02-30',
    '2024-13-01',
    '2024-01-31T25:00',
    '2024',
    '31.01.2024',
    'yesterday',
    '2024-01-31T',
    '',
  ])('%s is none', (text) => {
    const filter = { created_at: text };
    expect(coerceFilter(filter, schema).filter).toBe(filter);
  });

  it('is told, with how it was read', () => {
    const { notes } = coerceFilter({ created_at: { $gte: '2024-01-01', $lte: '2024-01-31' } }, schema);
    expect(notes).toEqual([
      'filter_dict: created_at was given as strings; the field holds date, so {"$date":"2024-01-01T00:00:00Z"} and ' +
        '{"$date":"2024-01-31T00:00:00Z"} were used. A date alone means its midnight, UTC. $lte leaves out the rest of ' +
        'that day; $lt of the next day has it.',
    ]);
    const [assumed] = coerceFilter({ created_at: { $gte: '2024-01-01T10:00' } }, schema).notes;
    expect(assumed).toMatch(/A time without an offset was taken as UTC\.$/);
    const [given] = coerceFilter({ created_at: { $gte: '2024-01-01T10:00Z' } }, schema).notes;
    expect(given).toMatch(/was used\.$/);
  });
});

describe('where a field holds strings too', () => {
  it.each<[string, unknown, unknown]>([
    ['equality asks for both', { legacy_id: HEX }, { legacy_id: { $in: [HEX, id] } }],
    ['$eq asks for both', { legacy_id: { $eq: HEX } }, { legacy_id: { $in: [HEX, id] } }],
    ['$ne excludes both', { legacy_id: { $ne: HEX } }, { legacy_id: { $nin: [HEX, id] } }],
    ['$in asks for both', { legacy_id: { $in: ['x', HEX] } }, { legacy_id: { $in: ['x', HEX, id] } }],
    ['dates are asked for too', { closed_at: '2024-01-31' }, { closed_at: { $in: ['2024-01-31', day] } }],
  ])('%s', (_, filter, expected) => {
    expect(coerced(filter)).toEqual(expected);
    expect(coerceFilter(filter, schema).notes).toHaveLength(1);
  });

  it('what was added is told', () => {
    expect(coerceFilter({ legacy_id: HEX }, schema).notes).toEqual([
      `filter_dict: legacy_id holds both strings and objectId values, so {"$oid":"${HEX}"} was asked for beside the string.`,
    ]);
  });

  it.each<[string, unknown]>([
    ['a range', { closed_at: { $gte: '2024-01-31' } }],
    ['$all', { legacy_id: { $all: [HEX] } }],
    ['$eq beside $in', { legacy_id: { $eq: HEX, $in: ['x'] } }],
  ])('%s cannot, stays, and is told', (_, filter) => {
    const result = coerceFilter(filter, schema);
    expect(result.filter).toBe(filter);
    expect(result.notes).toEqual([
      expect.stringContaining('compares with one type only: the string stayed.'),
    ]);
  });

  it('no strings, but mostly something else: the string stays', () => {
    const few = ordersSchema({
      fields: [field('x', { objectId: 49, int: 51 }), field('y', { objectId: 50, int: 50 })],
    });
    expect(coerceFilter({ x: HEX, y: HEX }, few).filter).toEqual({ x: HEX, y: id });
  });
});

describe('in a pipeline', () => {
  it('$match is read as long as documents are the own ones of the collection', () => {
    const stages = [
      { $match: { customer_id: HEX } },
      { $sort: { _id: 1 } },
      { $unwind: '$items' },
      { $match: { 'items.product_id': HEX } },
      { $group: { _id: '$customer_id' } },
      { $match: { customer_id: HEX } },
    ];
    const result = coercePipeline(stages, schema);
    expect(result.stages).toEqual([
      { $match: { customer_id: id } },
      stages[1],
      stages[2],
      { $match: { 'items.product_id': id } },
      stages[4],
      stages[5],
    ]);
    expect(result.notes).toEqual([
      expect.stringMatching(/^pipeline\[0\]: customer_id was/),
      expect.stringMatching(/^pipeline\[3\]: items\.product_id was/),
    ]);
    expect(stages[0]).toEqual({ $match: { customer_id: HEX } });
  });

  it.each<[string, Record<string, unknown>]>([
    ['$addFields', { $addFields: { customer_id: { $toString: '$customer_id' } } }],
    ['$set', { $set: { 'customer_id.x': 1 } }],
    ['$lookup', { $lookup: { from: 'customers', localField: 'a', foreignField: '_id', as: 'customer_id' } }],
    ['$project', { $project: { customer_id: { $toString: '$customer_id' } } }],
    ['an unknown stage', { $other: {} }],
    ['a malformed stage', {}],
  ])('what %s has written is not the own field any more', (_, stage) => {
    const stages = [stage, { $match: { customer_id: HEX } }];
    expect(coercePipeline(stages, schema)).toEqual({ stages, notes: [] });
  });

  it('$facet and $lookup are not entered', () => {
    const inner = [{ $match: { customer_id: HEX } }];
    const stages = [{ $lookup: { from: 'x', pipeline: inner, as: 'y' } }, { $facet: { a: inner } }];
    expect(coercePipeline(stages, schema)).toEqual({ stages, notes: [] });
  });
});

const paths = [
  '_id',
  'customer_id',
  'legacy_id',
  'created_at',
  'closed_at',
  'items.product_id',
  'items',
  'watchers',
  'zip',
  'nowhere',
];
const texts = fc.constantFrom(HEX, '2024-01-31', '2024-01-31T10:00', 'x', '');
const scalar = fc.oneof(texts, fc.integer(), fc.constant(null), fc.boolean());
const comparison = fc.constantFrom(
  '$eq',
  '$ne',
  '$gt',
  '$lte',
  '$in',
  '$nin',
  '$all',
  '$regex',
  '$elemMatch',
  '$not',
);
const filters = fc.letrec<{ value: unknown; filter: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(comparison, tie('value'), { maxKeys: 3 }),
    tie('filter'),
  ),
  filter: fc.oneof(
    { maxDepth: 4 },
    fc.dictionary(fc.constantFrom(...paths), tie('value'), { maxKeys: 3 }),
    fc.record({ $or: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ $and: fc.array(tie('filter'), { maxLength: 3 }) }),
  ),
})).filter;

describe('for any filter', () => {
  it('reading it twice is reading it once, nothing is written to, and no change goes untold', () => {
    let changes = 0;
    fc.assert(
      fc.property(filters, (filter) => {
        const before = structuredClone(filter);
        const once = coerceFilter(filter, schema);
        expect(filter).toEqual(before);
        expect(coerceFilter(once.filter, schema).filter).toBe(once.filter);
        if (once.filter === filter) return;
        changes++;
        expect(once.notes).not.toEqual([]);
      }),
      { numRuns: 500 },
    );
    expect(changes).toBeGreaterThan(20);
  });

  it('one that fits the schema stays as it is', () => {
    const fitting: Record<string, fc.Arbitrary<unknown>> = {
      customer_id: fc.constant(id),
      created_at: fc.date({ noInvalidDate: true }),
      quantity: fc.oneof(fc.integer(), fc.constant(Long.fromString('9007199254740993'))),
      total: fc.constantFrom(Decimal128.fromString('1.5'), new Double(1.5)),
      zip: fc.oneof(texts, fc.string()),
      paid: fc.boolean(),
    };
    const anyFitting = fc
      .constantFrom(...Object.keys(fitting))
      .chain((path) =>
        fc
          .tuple(fc.constantFrom('$eq', '$ne', '$gt', '$in'), fitting[path] as fc.Arbitrary<unknown>)
          .map(([operator, value]) => ({ [path]: { [operator]: operator === '$in' ? [value] : value } })),
      );
    fc.assert(
      fc.property(anyFitting, (filter) => {
        expect(coerceFilter(filter, schema)).toEqual({ filter, notes: [] });
      }),
    );
  });

  it('any JSON at all is read without failing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (filter, stages) => {
        coerceFilter(filter, schema);
        coercePipeline(stages as Record<string, unknown>[], schema);
      }),
    );
  });

  it('many paths are compared with the schema up to a bound', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`counts.k${index}`, HEX]));
    const wide = ordersSchema({
      fields: [
        field(
          'counts',
          { object: 1 },
          { fields: [{ ...field('counts.<key>', {}), keys: 9, types: typesOf({ objectId: 1 }) }] },
        ),
      ],
    });
    const values: unknown[] = Object.values(coerceFilter(many, wide).filter);
    expect(values.filter((value) => value instanceof ObjectId)).toHaveLength(
      limits.documents.hintedConditions,
    );
  });
});
