/** However deep something hostile is wrapped in what is legitimate, it is refused; in a literal it is data. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkFilter, checkPipeline, checkProjection } from '../../../src/documentdb/guard/guard.ts';
import { legitimateExpressions } from '../../support/legitimate/legitimate-expressions.ts';
import { legitimatePipelines } from '../../support/legitimate/legitimate-pipelines.ts';
import { legitimateFilters } from '../../support/legitimate/legitimate-queries.ts';
import { hostileExpressions } from './hostile-expressions.ts';
import { hostileFilters } from './hostile-filters.ts';
import { hostileStages } from './hostile-stages.ts';

type Wrap = (inner: unknown) => unknown;
type Pipeline = unknown[];

const home = { database: 'shop', collection: 'orders' };
const checkStages = (stages: unknown) => checkPipeline(stages, 'pipeline', home);

const aroundExpressions: Wrap[] = [
  (inner) => ({ $cond: [true, inner, 1] }),
  (inner) => ({ $cond: { if: inner, else: 1 } }),
  (inner) => ({ $let: { vars: { x: inner }, in: '$$x' } }),
  (inner) => ({ $let: { vars: { x: 1 }, in: inner } }),
  (inner) => ({ $map: { input: '$a', as: 'y', in: inner } }),
  (inner) => ({ $filter: { input: inner, as: 'y', cond: true } }),
  (inner) => ({ $reduce: { input: '$a', initialValue: inner, in: '$$value' } }),
  (inner) => ({ $switch: { branches: [], default: inner } }),
  (inner) => ({ $mergeObjects: ['$a', { b: inner }] }),
  (inner) => ({ $setField: { field: 'a', input: '$$ROOT', value: inner } }),
  (inner) => ({ $year: { date: inner } }),
  (inner) => ({ $max: [1, inner] }),
  (inner) => ({ a: { b: inner } }),
  (inner) => [1, inner],
];

const aroundFilters: Wrap[] = [
  (inner) => ({ $and: [{ a: 1 }, inner] }),
  (inner) => ({ $or: [inner, {}] }),
  (inner) => ({ a: 1, $nor: [inner] }),
];

const aroundPipelines: ((inner: Pipeline) => Pipeline)[] = [
  (inner) => [{ $limit: 1 }, ...inner, { $limit: 1 }],
  (inner) => [{ $facet: { ok: [{ $count: 'n' }], inner } }],
  (inner) => [{ $lookup: { from: 'x', let: { y: '$a' }, pipeline: inner, as: 'z' } }],
  (inner) => [{ $unionWith: { coll: 'x', pipeline: inner } }],
];

const expressionPlaces: ((inner: unknown) => Pipeline)[] = [
  (inner) => [{ $addFields: { a: inner } }],
  (inner) => [{ $match: { $expr: inner } }],
  (inner) => [{ $group: { _id: inner } }],
  (inner) => [{ $group: { _id: null, a: { $push: inner } } }],
  (inner) => [{ $group: { _id: null, a: { $topN: { n: 1, sortBy: { a: 1 }, output: inner } } } }],
  (inner) => [{ $setWindowFields: { output: { a: { $sum: inner, window: {} } } } }],
  (inner) => [{ $bucket: { groupBy: inner, boundaries: [0, 1] } }],
  (inner) => [{ $graphLookup: { from: 'x', startWith: inner, as: 'y' } }],
  (inner) => [{ $lookup: { from: 'x', let: { z: inner }, pipeline: [], as: 'y' } }],
  (inner) => [{ $redact: inner }],
  (inner) => [{ $replaceWith: inner }],
];

const filterPlaces: ((inner: unknown) => Pipeline)[] = [
  (inner) => [{ $match: inner }],
  (inner) => [{ $graphLookup: { from: 'x', startWith: 1, restrictSearchWithMatch: inner } }],
  (inner) => [{ $geoNear: { near: [1, 1], distanceField: 'd', query: inner } }],
];

/** Names that a wrapping defines are no longer unknown inside of it; `$$PRUNE` is at home in `$redact`. */
const everywhereHostile = hostileExpressions
  .map(([expression]) => expression)
  .filter((expression) => !/\$\$(?:PRUNE|this)/.test(String(JSON.stringify(expression))));

const layers = <T>(wraps: T[]) => fc.array(fc.constantFrom(...wraps), { maxLength: 6 });
const wrapped = <T>(inner: T, wraps: ((inner: T) => T)[]): T =>
  wraps.reduce((value, wrap) => wrap(value), inner);

const refused = expect.objectContaining({ code: 'invalid_argument' });
const refusalOf = (check: () => unknown): unknown => {
  try {
    check();
  } catch (error) {
    return error;
  }
  return 'let through';
};

describe('a hostile operator [WIRE-DB-11]', () => {
  it('is refused as an expression in expressions, in every place of one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...everywhereHostile),
        layers(aroundExpressions),
        fc.constantFrom(...expressionPlaces),
        layers(aroundPipelines.slice(0, 1).concat(aroundPipelines.slice(2))),
        (hostile, expressions, place, pipelines) => {
          const expression = wrapped<unknown>(hostile, expressions);
          expect(refusalOf(() => checkStages(wrapped(place(expression), pipelines)))).toEqual(refused);
          expect(refusalOf(() => checkFilter({ $expr: expression }, 'f'))).toEqual(refused);
          expect(refusalOf(() => checkProjection({ a: [expression] }, 'p'))).toEqual(refused);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is refused as a filter in filters, in every place of one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...hostileFilters.map(([filter]) => filter)),
        layers(aroundFilters),
        fc.constantFrom(...filterPlaces),
        layers(aroundPipelines),
        (hostile, filters, place, pipelines) => {
          const filter = wrapped<unknown>(hostile, filters);
          expect(refusalOf(() => checkFilter(filter, 'f'))).toEqual(refused);
          expect(refusalOf(() => checkFilter({ a: { $elemMatch: { $and: [filter] } } }, 'f'))).toEqual(
            refused,
          );
          expect(refusalOf(() => checkProjection({ a: { $elemMatch: { $and: [filter] } } }, 'p'))).toEqual(
            refused,
          );
          expect(refusalOf(() => checkStages(wrapped(place(filter), pipelines)))).toEqual(refused);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is refused as a stage in pipelines', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...hostileStages.map(([stage]) => stage)),
        layers(aroundPipelines),
        (hostile, pipelines) => {
          expect(refusalOf(() => checkStages(wrapped<Pipeline>([hostile], pipelines)))).toEqual(refused);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is refused beside legitimate stages too', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...hostileStages.map(([stage]) => stage)),
        fc.constantFrom(...legitimatePipelines.map(({ pipeline }) => pipeline)),
        fc.nat(),
        (hostile, legitimate, at) => {
          const stages: unknown[] = legitimate.toSpliced(at % (legitimate.length + 1), 0, hostile as never);
          expect(refusalOf(() => checkStages(stages))).toEqual(refused);
        },
      ),
    );
  });
});

describe('a legitimate operator [WIRE-DB-13]', () => {
  it('is accepted with expressions, filters and pipelines around it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...legitimateExpressions.map(([expression]) => expression)),
        layers(aroundExpressions),
        fc.constantFrom(...legitimateFilters.filter(({ findOnly }) => !findOnly)),
        layers(aroundFilters),
        layers(aroundPipelines.filter((wrap) => wrap !== aroundPipelines[1])),
        (expression, expressions, { filter }, filters, pipelines) => {
          const stages = [
            { $addFields: { a: wrapped<unknown>(expression, expressions) } },
            { $match: wrapped<unknown>(filter, filters) },
          ];
          checkStages(wrapped<Pipeline>(stages, pipelines));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is accepted with hostile operators inside a literal', () => {
    // Some filters are no data at all, and refused before any meaning is looked at.
    const asData = [...everywhereHostile, ...hostileFilters.flatMap(([filter]) => jsonOf(filter))];
    expect(asData.length).toBeGreaterThan(100);
    fc.assert(
      fc.property(fc.constantFrom(...asData), layers(aroundExpressions), (hostile, expressions) => {
        const expression = wrapped<unknown>({ $literal: hostile }, expressions);
        checkStages([{ $addFields: { a: expression } }]);
        checkFilter({ $expr: expression, a: { $eq: hostile } }, 'f');
      }),
      { numRuns: 500 },
    );
  });
});

describe('any JSON at all', () => {
  const keys = fc.constantFrom(
    ...[
      '$and',
      '$or',
      '$expr',
      '$match',
      '$lookup',
      '$facet',
      '$group',
      '$unionWith',
      '$literal',
      '$let',
      '$map',
    ],
    ...[
      '$in',
      '$not',
      '$elemMatch',
      '$all',
      'from',
      'pipeline',
      'let',
      'vars',
      'in',
      'input',
      'as',
      '_id',
      'a',
      '$',
    ],
    ...[
      '$sum',
      '$cond',
      '$switch',
      'branches',
      '$sortArray',
      'sortBy',
      '$out',
      '$where',
      '__proto__',
      'coll',
      '',
    ],
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom<unknown>(null, 1, true, 'a', '$a', '$$ROOT', '$$x', ''),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.array(fc.tuple(keys, tie('json')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));

  it('is let through or refused, and neither fails nor is changed', () => {
    fc.assert(
      fc.property(json, (value) => {
        const before = JSON.stringify(value);
        for (const check of [
          () => checkFilter(value, 'f'),
          () => checkProjection(value, 'p'),
          () => checkStages([value]),
          () => checkStages(value),
        ]) {
          expect([refused, 'let through']).toContainEqual(refusalOf(check));
        }
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** What JSON can say of it, if a query may hold that. */
function jsonOf(value: unknown): unknown[] {
  const text = JSON.stringify(value);
  return /_bsontype|__proto__|\\u0000/.test(text) ? [] : [JSON.parse(text)];
}
