/** What a refusal says: the rule that the place breaks, and the next step. */

import { describe, expect, it } from 'vitest';
import { Long } from '../../../src/documentdb/bson/library.ts';
import {
  checkFilter,
  checkPipeline,
  checkProjection,
  checkSort,
} from '../../../src/documentdb/guard/guard.ts';

const ownData = 'Query the other database by itself, with its own database_name.';
const noDirection = 'is no direction.';
const notAnObject = 'must be an object.';

/** For a check that refuses; fails when it lets the value through. */
function said(check: () => unknown): { message: string; hint: unknown } {
  try {
    check();
  } catch (error) {
    const { message, fields } = error as { message: string; fields: { hint?: string } };
    return { message, hint: fields.hint };
  }
  throw new Error('It was let through.');
}

const filter = (value: unknown) => said(() => checkFilter(value, 'f'));
const stage = (value: unknown, ...others: unknown[]) =>
  said(() => checkPipeline([...others, value], 'p', { database: 'shop', collection: 'orders' }));
const expression = (value: unknown) => filter({ $expr: value });

describe('a filter', () => {
  it.each([
    [{ a: { $gt: 1, $nope: 2 } }, 'f.a.$nope is not an operator of a field.'],
    [{ $nope: 1 }, 'f.$nope is not an operator of filters.'],
    [{ a: { $elemMatch: { $expr: 1 } } }, 'f.a.$elemMatch.$expr stands inside of a list.'],
    [{ $and: [{ $elemMatch: {} }] }, 'f.$and[0].$elemMatch is not an operator of filters.'],
    [{ a: { $geoWithin: { $nope: 1 } } }, 'f.a.$geoWithin.$nope is no option of a shape.'],
    [{ a: { $near: { $nope: 1 } } }, 'f.a.$near.$nope is no option of $near.'],
    [{ $text: { $nope: 1 } }, 'f.$text.$nope is no option of $text.'],
    [{ $text: 'a' }, `f.$text ${notAnObject}`],
    [{ a: { $not: {} } }, 'f.a.$not must hold operators or a regular expression.'],
    [{ a: { $ref: 'b', $id: 1, $gt: 1 } }, 'f.a.$ref is not an operator of a field.'],
    [{ a: { $gt: 1, $id: 1 } }, 'f.a.$id is not an operator of a field.'],
    [{ $jsonSchema: 1 }, `f.$jsonSchema ${notAnObject}`],
    [{ $jsonSchema: { nope: 1 } }, 'f.$jsonSchema.nope is no option of $jsonSchema.'],
    [{ $jsonSchema: { properties: 1 } }, `f.$jsonSchema.properties ${notAnObject}`],
    [{ $jsonSchema: { properties: { a: ['b'] } } }, `f.$jsonSchema.properties.a ${notAnObject}`],
    [{ a: Symbol('a') }, 'f.a is not a JSON value.'],
    [{ a: { $_other: 1 } }, 'f.a.$_other is for the server itself.'],
    [{ a: { $internalNext: 1 } }, 'f.a.$internalNext is for the server itself.'],
    [{ a: { $_internalNext: 1 } }, 'f.a.$_internalNext is for the server itself.'],
    [{ a: { b$internal: 1, $gt: 1 } }, 'f.a.$gt stands among the fields of a value'],
    [{ a: { $ainternal: 1 } }, 'f.a.$ainternal is not an operator of a field.'],
    [{ a: { $x$internal: 1 } }, 'f.a.$x$internal is not an operator of a field.'],
  ])('%o: %s', (value, message) => {
    expect(filter(value).message).toContain(message);
  });

  it('has an operator elsewhere, or none that is near', () => {
    expect(filter({ a: { $text: {} } }).hint).toBe(
      '$text belongs beside the fields of a filter, not under one.',
    );
    expect(filter({ $addToSet: 1 }).hint).toBe(
      '$addToSet is an accumulator: it belongs in the fields of $group.',
    );
    expect(filter({ $denseRank: 1 }).hint).toBe('$denseRank belongs in the output of $setWindowFields.');
    expect(filter({ $zzzzzzzz: 1 }).hint).toBe(
      'This place takes $and, $or, $nor, $comment, $expr, $jsonSchema, $text, $sampleRate, $alwaysTrue, $alwaysFalse.',
    );
    expect(filter({ a: { $zzzzzzzz: 1 } }).hint).toBe(
      'This place takes $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $all, $elemMatch, $not, $exists and others.',
    );
    expect(filter({ $text: { $zzzzzzzz: 1 } }).hint).toBe(
      'It takes $search, $language, $caseSensitive, $diacriticSensitive.',
    );
    expect(filter({ $text: { $where: 1 } }).message).toBe(
      'f.$text.$where would run JavaScript on the server.',
    );
    expect(filter({ $text: { $WHERE: 1 } }).message).toContain('would run JavaScript');
  });

  it('for $near and $text has its place', () => {
    expect(stage({ $match: { $text: { $search: 'a' } } }, { $limit: 1 }).message).toBe(
      'p[1].$match.$text can only stand in the first stage.',
    );
    expect(stage({ $facet: { a: [{ $match: { $text: { $search: 'a' } } }] } }).message).toContain(
      'can only stand in the first stage',
    );
    const geoNear = { near: [1, 1], distanceField: 'd', query: { $text: { $search: 'a' } } };
    expect(stage({ $geoNear: geoNear }).message).toContain('can only stand in the first stage');
    expect(stage({ $search: { filter: { $text: { $search: 'a' } } } }).message).toContain('first stage');
    expect(
      said(() => checkProjection({ a: { $elemMatch: { b: { $near: [1, 1] } } } }, 'p')).message,
    ).toContain('sorts by distance');
    expect(
      said(() => checkProjection({ a: { $elemMatch: { $text: { $search: 'a' } } } }, 'p')).message,
    ).toContain('first stage');
  });
});

describe('an expression', () => {
  it.each([
    [{ $nope: 1 }, 'f.$expr.$nope is not an operator of expressions.', undefined],
    [{ $switch: { branches: [1] } }, `f.$expr.$switch.branches[0] ${notAnObject}`, undefined],
    [
      { $switch: { branches: [{ cas: 1 }] } },
      'f.$expr.$switch.branches[0].cas is no option of a branch of $switch.',
      'Did you mean case?',
    ],
    [{ $switch: { branches: [{ zzzz: 1 }] } }, 'is no option of a branch', 'It takes case, then.'],
    [{ $let: { vars: {}, zzzz: 1 } }, 'f.$expr.$let.zzzz is no option of $let.', 'It takes vars, in.'],
    [{ $let: { in: 1 } }, 'f.$expr.$let must be an object with an object of variables.', undefined],
    [{ $trim: 1 }, `f.$expr.$trim ${notAnObject}`, '$trim takes an object of input, chars.'],
    [{ $meta: 1 }, 'f.$expr.$meta is not available through $meta.', undefined],
    ['$$USER_ROLES', "f.$expr reads $$USER_ROLES, which is the server's own.", 'Leave it out.'],
    [
      '$$SEARCH_META.a',
      "f.$expr reads $$SEARCH_META, which is the server's own.",
      'Use the stage $searchMeta.',
    ],
    [
      '$$zzzzzzzz',
      'f.$expr names the variable "$$zzzzzzzz", which is not known here.',
      'Define it with $let, or put text that begins with "$" into {"$literal": …}.',
    ],
    [
      { $let: { vars: { total: 1, discount: 2 }, in: '$$discuont' } },
      'names the variable',
      'Did you mean $$discount?',
    ],
    [
      { $let: { vars: { total: 1 }, in: { $let: { vars: { discount: 2 }, in: '$$totl' } } } },
      'names the variable',
      'Did you mean $$total?',
    ],
    [{ $let: { vars: { 'a b': 1 }, in: 1 } }, 'is not a name for a variable.', undefined],
    [{ $let: { vars: { a$: 1 }, in: 1 } }, 'is not a name for a variable.', undefined],
    [{ $map: { input: [], as: 7, in: 1 } }, 'f.$expr.$map.as is not a name for a variable.', undefined],
    [{ $map: { input: [], as: ['a'], in: 1 } }, 'f.$expr.$map.as is not a name for a variable.', undefined],
    [
      { $sortArray: { input: [], sortBy: { a: { $nope: 1 } } } },
      'f.$expr.$sortArray.sortBy.a.$nope is no option of an order.',
      'It takes $meta.',
    ],
    [
      { $sortArray: { input: [], sortBy: { a: 2 } } },
      `f.$expr.$sortArray.sortBy.a ${noDirection}`,
      undefined,
    ],
    [
      { $sortArray: { input: [], sortBy: { a: 'x' } } },
      `f.$expr.$sortArray.sortBy.a ${noDirection}`,
      undefined,
    ],
    [{ $sortArray: { input: [], sortBy: { a: { $meta: ['textScore'] } } } }, noDirection, undefined],
    [
      { $map: { input: [], in: { $sortArray: { input: [], sortBy: '$$this' } } } },
      'names the variable "$$this"',
      undefined,
    ],
  ])('%o: %s', (value, message, hint) => {
    const refusal = expression(value);
    expect(refusal.message).toContain(message);
    if (hint !== undefined) expect(refusal.hint).toBe(hint);
  });
});

describe('a stage', () => {
  it.each([
    [{ $zzzzzzzz: 1 }, 'p[0].$zzzzzzzz is not a stage of pipelines.'],
    [
      { $lookup: { from: 'x', db: 'y' } },
      'p[0].$lookup.db names another database, and a query reads only its own.',
    ],
    [{ $group: { _id: 1, a: { $nope: 1 } } }, 'p[0].$group.a.$nope is not an accumulator.'],
    [{ $group: { _id: 1, a: 1 } }, `p[0].$group.a ${notAnObject}`],
    [
      { $group: { _id: 1, 'a.$b': { $sum: 1 } } },
      'p[0].$group["a.$b"] has an operator in the place of a field.',
    ],
    [{ $setWindowFields: { output: { a: { $nope: 1 } } } }, 'a.$nope is not a function of windows.'],
    [{ $setWindowFields: { output: { 'a.$b': { $sum: 1 } } } }, 'has an operator in the place of a field.'],
    [
      { $setWindowFields: { output: { a: { $sum: 1, window: { nope: 1 } } } } },
      'p[0].$setWindowFields.output.a.window.nope is no option of a window.',
    ],
    [{ $setWindowFields: { output: { a: { $sum: 1, window: 1 } } } }, `a.window ${notAnObject}`],
    [{ $fill: { output: { 'a.$b': { value: 1 } } } }, 'has an operator in the place of a field.'],
    [
      { $fill: { output: { a: { nope: 1 } } } },
      'p[0].$fill.output.a.nope is no option of an output of $fill.',
    ],
    [{ $fill: { output: { a: 1 } } }, `p[0].$fill.output.a ${notAnObject}`],
    [{ $facet: { 'a.$b': [] } }, 'p[0].$facet["a.$b"] has an operator in the place of a field.'],
    [{ $facet: { a: [{ $lookup: { as: 'x', pipeline: [{ $facet: {} }] } }] } }, 'has no from.'],
    [{ $search: { $nope: 1 } }, 'p[0].$search.$nope is no option of a search.'],
    [{ $search: { '\uff04nope': 1 } }, 'only looks like an operator'],
    [{ $sort: 1 }, `p[0].$sort ${notAnObject}`],
    [{ $limit: new Date(0) }, 'p[0].$limit must be a number.'],
    [{ $facet: { a: [{ $documents: [] }] } }, 'p[0].$facet.a[0].$documents cannot stand in $facet.'],
    [
      { $rankFusion: { input: { pipelines: { a: [{ $documents: [] }] } } } },
      '.a[0].$documents stands where the documents are those of a collection.',
    ],
  ])('%o: %s', (value, message) => {
    expect(stage(value).message).toContain(message);
  });

  it('has the other database queried by itself', () => {
    expect(stage({ $lookup: { from: 'x', db: 'y' } }).hint).toBe(ownData);
    expect(stage({ $search: { $zzzz: 1 } }).hint).toBe('It takes filter.');
  });
});

describe('a sort', () => {
  it('takes the numbers 1 and -1 alone', () => {
    for (const value of [2, 0, '1', new Date(1), Long.fromNumber(2)]) {
      expect(said(() => checkSort({ a: value }, 's')).message).toBe(`s.a ${noDirection}`);
    }
    expect(said(() => checkSort({ a: { b: 1 } }, 's')).message).toBe(`s.a ${noDirection}`);
    expect(said(() => checkSort({ 'a\0': 1 }, 's')).message).toContain('has NUL in its name');
  });
});
