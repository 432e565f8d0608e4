/** One walk finds every condition of a filter, wherever operators put it. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BSONRegExp, ObjectId } from '../../../src/documentdb/bson/library.ts';
import { conditionsOf, mapFilter } from '../../../src/documentdb/hints/filter-walk.ts';

function found(filter: unknown): string[] {
  return conditionsOf(filter).map(
    ({ path, operator, value, required }) =>
      `${path} ${operator} ${JSON.stringify(value)}${required ? '' : ' maybe'}`,
  );
}

describe('conditions', () => {
  it.each<[string, unknown, string[]]>([
    ['a bare value', { a: 1 }, ['a $eq 1']],
    ['a bare document', { a: { b: 1 } }, ['a $eq {"b":1}']],
    ['a bare list', { a: [1] }, ['a $eq [1]']],
    ['an empty document', { a: {} }, ['a $eq {}']],
    ['operators', { a: { $gt: 1, $lt: 5 } }, ['a $gt 1', 'a $lt 5']],
    ['a dotted path', { 'a.0.b': { $ne: null } }, ['a.0.b $ne null']],
    ['$and', { $and: [{ a: 1 }, { b: 2 }] }, ['a $eq 1', 'b $eq 2']],
    ['$or', { $or: [{ a: 1 }, { b: 2 }] }, ['a $eq 1 maybe', 'b $eq 2 maybe']],
    ['$or of one', { $or: [{ a: 1 }] }, ['a $eq 1']],
    ['$nor of one', { $nor: [{ a: 1 }] }, ['a $eq 1 maybe']],
    ['$and in $or', { $or: [{ $and: [{ a: 1 }] }, {}] }, ['a $eq 1 maybe']],
    ['$not', { a: { $not: { $gt: 1 } } }, ['a $gt 1 maybe']],
    [
      '$elemMatch on documents',
      { a: { $elemMatch: { b: 1, 'c.d': { $in: [2] } } } },
      ['a.b $eq 1', 'a.c.d $in [2]'],
    ],
    ['$elemMatch on values', { a: { $elemMatch: { $gt: 1 } } }, ['a $gt 1']],
    [
      '$or in $elemMatch',
      { a: { $elemMatch: { $or: [{ b: 1 }, { c: 1 }] } } },
      ['a.b $eq 1 maybe', 'a.c $eq 1 maybe'],
    ],
    ['$all', { a: { $all: [1, 2] } }, ['a $all [1,2]']],
    ['$all of $elemMatch', { a: { $all: [{ $elemMatch: { b: 1 } }] } }, ['a.b $eq 1']],
    ['$regex, its options apart', { a: { $regex: 'x', $options: 'i' } }, ['a $regex "x"']],
    ['what is asked of the whole document', { $text: { $search: 'x' } }, [' $text {"$search":"x"}']],
    ['an expression, which is not entered', { $expr: { $eq: ['$a', 1] } }, [' $expr {"$eq":["$a",1]}']],
    ['a reference to another document', { a: { $ref: 'c', $id: 1 } }, ['a $eq {"$ref":"c","$id":1}']],
  ])('of %s', (_, filter, conditions) => {
    expect(found(filter)).toEqual(conditions);
  });

  it('of bare expressions are $regex', () => {
    const conditions = conditionsOf({ a: /x/, b: new BSONRegExp('x'), c: { $not: /x/ } });
    expect(conditions.map(({ path, operator }) => [path, operator])).toEqual([
      ['a', '$regex'],
      ['b', '$regex'],
      ['c', '$regex'],
    ]);
  });

  it('carry the operators beside them', () => {
    const [regex] = conditionsOf({ a: { $regex: 'x', $options: 'i' } });
    expect(regex?.beside).toEqual({ $regex: 'x', $options: 'i' });
  });

  it('of bson values are not entered', () => {
    const id = new ObjectId();
    expect(conditionsOf({ a: id })).toMatchObject([{ path: 'a', operator: '$eq', value: id }]);
  });
});

describe('a changed filter', () => {
  it('has the change in its place, and the rest untouched', () => {
    const rest = { $or: [{ b: 1 }, { c: { $gt: 1 } }] };
    const filter = { $and: [{ a: { $not: { $eq: 'x' } } }, rest] };
    const changed = mapFilter(filter, ({ value }) =>
      value === 'x' ? { operator: '$in', value: ['x', 1] } : null,
    );
    expect(changed).toEqual({ $and: [{ a: { $not: { $in: ['x', 1] } } }, rest] });
    expect(changed.$and[1]).toBe(rest);
    expect(filter.$and[0]).toEqual({ a: { $not: { $eq: 'x' } } });
  });

  it('loses no operator to a change that takes its name', () => {
    const filter = { a: { $eq: 'x', $in: [1] } };
    const changed = mapFilter(filter, ({ operator }) =>
      operator === '$eq' ? { operator: '$in', value: [2] } : null,
    );
    expect(changed).toEqual(filter);
  });

  it('keeps a key named __proto__ a key', () => {
    const filter = JSON.parse('{"__proto__": {"$eq": 1}}');
    const changed = mapFilter(filter, () => ({ operator: '$eq', value: 2 }));
    expect(JSON.stringify(changed)).toBe('{"__proto__":{"$eq":2}}');
  });
});

const operators = [
  '$and',
  '$or',
  '$nor',
  '$not',
  '$elemMatch',
  '$all',
  '$in',
  '$eq',
  '$gt',
  '$regex',
  '$expr',
  'a',
  'a.b',
];
const anyFilter = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.jsonValue({ maxDepth: 2 }),
    tie('object'),
    fc.array(tie('object'), { maxLength: 3 }),
  ),
  object: fc.dictionary(fc.constantFrom(...operators), tie('value'), { maxKeys: 4 }),
})).object;

describe('for any value', () => {
  it('the walk ends, writes nothing, and gives the very same filter back when nothing is changed', () => {
    fc.assert(
      fc.property(fc.oneof(anyFilter, fc.jsonValue()), (filter) => {
        const before = structuredClone(filter);
        expect(mapFilter(filter, () => null)).toBe(filter);
        expect(filter).toEqual(before);
      }),
    );
  });

  it('a change of every condition is seen by the next walk, condition by condition', () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        const before = conditionsOf(filter).filter(({ path }) => path !== '');
        const changed = mapFilter(filter, ({ operator }) => ({ operator, value: 'changed' }));
        const after = conditionsOf(changed).filter(({ path }) => path !== '');
        const comparable = before.filter(({ operator }) => operator !== '$regex');
        expect(after.length).toBe(before.length);
        expect(comparable.length).toBeLessThanOrEqual(after.length);
        expect(after.every(({ value }) => value === 'changed')).toBe(true);
      }),
    );
  });

  it('nesting past the bound is left alone', () => {
    let deep: unknown = { a: 1 };
    for (let level = 0; level < 100_000; level++) deep = { $and: [deep] };
    expect(conditionsOf(deep)).toEqual([]);
  });
});
