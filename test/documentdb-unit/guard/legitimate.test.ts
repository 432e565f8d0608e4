/** Rules of the language with two sides: the legitimate one, beside what refusals.test.ts has refused. */

import { describe, expect, it } from 'vitest';
import {
  BSONRegExp,
  Code,
  DBRef,
  Double,
  Int32,
  Long,
  ObjectId,
} from '../../../src/documentdb/bson/library.ts';
import {
  checkFilter,
  checkPipeline,
  checkProjection,
  checkSort,
} from '../../../src/documentdb/guard/guard.ts';
import { checkCollectionName, checkDatabaseName } from '../../../src/documentdb/guard/names.ts';

const COLLECTION_NAME_BYTES = 255;
const DEPTH = 100;
const PLACE_KEY_CHARS = 60;

const filter = (value: unknown) => checkFilter(value, 'f');
const pipeline = (...stages: unknown[]) =>
  checkPipeline(stages, 'p', { database: 'shop', collection: 'orders' });

describe('passes', () => {
  it.each([
    [{ a: { $ref: 'b', $id: 1 } }],
    [{ a: { $ref: 'b', $id: 1, $db: 'c' } }],
    [{ a: { $ref: 'b', $id: 1, extra: 2 } }],
    [{ a: { $in: [{ $ref: 'b', $id: 1 }] } }],
    [{ a: { $not: /x/ } }],
    [{ a: { $not: new BSONRegExp('x') } }],
    [{ a: { $elemMatch: {} } }],
    [{ a: { $near: [1, 1] } }],
    [{ a: { $nearSphere: [1, 1], $maxDistance: 3 } }],
    [{ a: { $near: { x: 1, y: 2 } } }],
    [{ $text: { $search: 'a' } }],
    [{ $jsonSchema: { additionalProperties: false, additionalItems: true } }],
    [{ $jsonSchema: { dependencies: { a: ['b'], c: { required: ['d'] } } } }],
    [{ $expr: { $let: { vars: { CURRENT: '$a' }, in: '$b' } } }],
    [{ $expr: { $year: {} } }],
    [{ $expr: { $sortArray: { input: '$a', sortBy: { b: -1 } } } }],
    [{ a: Object.create(null) }],
    [{ a: new ObjectId() }],
  ])('the filter %o', (value) => {
    filter(value);
  });

  it('$text in the first $match, whatever follows', () => {
    pipeline({ $match: { $text: { $search: 'a' } } }, { $limit: 1 });
  });

  it.each([
    [{ $limit: 1n }],
    [{ $limit: new Int32(1) }],
    [{ $sort: { a: new Int32(1), b: new Double(-1), c: Long.fromNumber(1) } }],
    [{ $group: { _id: 1, 'a.$id': { $sum: 1 } } }],
    [{ $sort: { 'a.$id': 1, 'a.$ref': 1, 'a.$db': 1 } }],
  ])('the stage %o', (value) => {
    pipeline(value);
  });

  it('variables of a join in its pipeline, and not beside it', () => {
    const inside = { from: 'x', let: { total: '$a' }, as: 'y', pipeline: [{ $match: { $expr: '$$total' } }] };
    pipeline({ $lookup: inside });
    expect(() => pipeline({ $lookup: { ...inside, let: { total: '$$total' } } })).toThrow(
      'is not known here',
    );
    expect(() =>
      pipeline({ $lookup: { from: 'x', as: 'y', pipeline: [{ $match: { $expr: '$$let' } }] } }),
    ).toThrow('is not known here');
  });

  it('the position of a match in a projection, and parts of lists', () => {
    checkProjection({ 'list.$': 1, nested: { a: 1 }, part: { $slice: 2 } }, 'p');
    expect(() => checkProjection({ nested: { 'a.$b': 1 } }, 'p')).toThrow('p.nested["a.$b"] has an operator');
  });

  it('directions of a sort as BSON numbers', () => {
    checkSort({ a: new Double(1), b: new Int32(-1), c: Long.fromNumber(-1) }, 's');
  });

  it('names without a fault', () => {
    checkDatabaseName('shop', 'database_name');
    checkCollectionName('x'.repeat(COLLECTION_NAME_BYTES), 'collection_name');
  });
});

describe('depth is counted', () => {
  const deep = (depth: number, value: unknown): unknown =>
    Array.from({ length: depth }).reduce((inner) => ({ a: inner }), value);

  it('in lists', () => {
    const lists = (depth: number) => Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 1);
    filter({ a: lists(DEPTH - 1) });
    expect(() => filter({ a: lists(DEPTH) })).toThrow('deep');
  });

  it('inside of code and of references', () => {
    filter({ a: { $eq: new Code('1', { x: 1 }) } });
    for (const value of [
      new Code('1', deep(DEPTH, 1) as never),
      new DBRef('a', new ObjectId(), 'b', deep(DEPTH, 1) as never),
    ]) {
      expect(() => filter({ a: { $eq: value } })).toThrow('deep');
    }
  });

  it('inside of code with what is no JSON value', () => {
    expect(() => filter({ a: { $eq: new Code('1', { x: () => 1 }) } })).toThrow('is not a JSON value');
    expect(() => filter({ a: { $eq: new DBRef('a', new ObjectId(), 'b', { x: () => 1 }) } })).toThrow(
      'is not a JSON value',
    );
  });
});

describe('the place in a refusal', () => {
  const placeOf = (key: string) => {
    try {
      filter({ [key]: { $where: 1 } });
    } catch (error) {
      return String((error as Error).message);
    }
    throw new Error('It was let through.');
  };

  it('shows a long name cut, and a longest name whole', () => {
    const longest = 'x'.repeat(PLACE_KEY_CHARS);
    expect(placeOf(longest)).toContain(`f.${longest}.$where `);
    expect(placeOf(`${longest}y`)).toContain(`f["${longest}…"].$where `);
    expect(placeOf(`${longest.slice(1)} `)).toContain(`f["${longest.slice(1)} "].$where `);
  });

  it('has its beginning and its end when it is very long', () => {
    const name = 'abcdefghijklmnopqrstuvwxyz';
    const many = Array.from({ length: 40 }).reduce<unknown>((inner) => ({ [name]: inner }), { $where: 1 });
    expect(() => filter({ $expr: many })).toThrow(
      /^f\.\$expr\.abcdefg.{50,}….{50,}abcdefghijklmnopqrstuvwxyz\.\$where /,
    );
  });
});
