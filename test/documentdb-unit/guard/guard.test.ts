/** What the guard refuses, and where; and what it lets through. */

import { describe, expect, it } from 'vitest';
import { Code } from '../../../src/documentdb/bson/library.ts';
import {
  checkFilter,
  checkPipeline,
  checkProjection,
  checkSort,
} from '../../../src/documentdb/guard/guard.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { legitimatePipelines } from '../../support/legitimate/legitimate-pipelines.ts';
import { legitimateFilters, legitimateProjections } from '../../support/legitimate/legitimate-queries.ts';
import { hostileExpressions } from './hostile-expressions.ts';
import { hostileFilters, hostileProjections, hostileSorts } from './hostile-filters.ts';
import { hostileFirstStages, hostileStages } from './hostile-stages.ts';

const DEPTH = 100;
const QUERY_VALUES = 25_000;
const MOST_STAGES = 1_000;

const home = { database: 'shop', collection: 'orders' };
const pipeline = (stages: unknown) => checkPipeline(stages, 'pipeline', home);

/** Fails when nothing is refused. */
function refusal(check: () => unknown): SandhavenError {
  try {
    check();
  } catch (error) {
    if (error instanceof SandhavenError) return error;
    throw error;
  }
  throw new Error('It was let through.');
}

function expectRefused(check: () => unknown, parameter: string, place: string): void {
  const { code, message, fields } = refusal(check);
  expect({ code, parameter: fields.parameter }).toEqual({ code: 'invalid_argument', parameter });
  expect(message).toMatch(/^\S.* .*\.$/s);
  expect(message.startsWith(`${parameter}${place} `), message).toBe(true);
  expect(fields.hint).toMatch(/^\S.*[.?]$/s);
}

describe('is refused, naming the place [WIRE-DB-11] [WIRE-DB-12]', () => {
  it('in at least 150 ways', () => {
    const all = [hostileExpressions, hostileFilters, hostileProjections, hostileSorts, hostileStages];
    expect(all.flat().length + hostileFirstStages.length).toBeGreaterThan(300);
  });

  it.each(hostileFilters)('as a filter: %j', (filter, place) => {
    expectRefused(() => checkFilter(filter, 'filter_dict'), 'filter_dict', place);
  });

  it.each(hostileProjections)('as a projection: %j', (projection, place) => {
    expectRefused(() => checkProjection(projection, 'projection'), 'projection', place);
  });

  it.each(hostileSorts)('as a sort: %j', (sort, place) => {
    expectRefused(() => checkSort(sort, 'sort'), 'sort', place);
  });

  it.each(hostileStages)('as a stage: %j', (stage, place) => {
    expectRefused(() => pipeline([stage]), 'pipeline', `[0]${place}`);
    expectRefused(() => pipeline([{ $match: {} }, stage]), 'pipeline', `[1]${place}`);
  });

  it.each(hostileFirstStages)('as the first stage: %j', (stage, place) => {
    expectRefused(() => pipeline([stage]), 'pipeline', `[0]${place}`);
  });

  it.each(hostileExpressions)('as an expression: %j', (expression, place) => {
    const positions: [(value: unknown) => unknown, string, string][] = [
      [(value) => checkFilter({ $expr: value }, 'filter_dict'), 'filter_dict', '.$expr'],
      [(value) => checkProjection({ a: [value] }, 'projection'), 'projection', '.a[0]'],
      [(value) => pipeline([{ $addFields: { a: value } }]), 'pipeline', '[0].$addFields.a'],
      [(value) => pipeline([{ $group: { _id: value } }]), 'pipeline', '[0].$group._id'],
      [(value) => pipeline([{ $group: { _id: 1, a: { $max: value } } }]), 'pipeline', '[0].$group.a.$max'],
    ];
    for (const [check, parameter, place0] of positions) {
      expectRefused(() => check(expression), parameter, place0 + place);
    }
  });
});

describe('passes', () => {
  it('in at least 100 ways', () => {
    const all = [legitimateFilters, legitimateProjections, legitimatePipelines].flat();
    expect(all.length).toBeGreaterThan(200);
  });

  it.each(legitimateFilters)('as a filter: $filter [WIRE-DB-13]', ({ filter, findOnly }) => {
    checkFilter(filter, 'filter_dict');
    if (!findOnly) pipeline([{ $match: filter }]);
  });

  it.each(legitimateProjections)('as a projection: $projection', ({ projection }) => {
    checkProjection(projection, 'projection');
  });

  it.each(legitimatePipelines)(
    'as a pipeline: $pipeline [DDB-AGG-02]',
    ({ pipeline: stages, sources = [] }) => {
      expect(pipeline(stages).sources).toEqual(
        ['orders', ...sources].map((collection) => ({ database: 'shop', collection })),
      );
    },
  );

  it.each([
    [{ a: 1, 'b.c': -1 }],
    [
      new Map([
        ['2', 1],
        ['1', -1],
      ]),
    ],
    [{}],
    [{ constructor: 1 }],
  ])('as a sort: %j', (sort) => {
    checkSort(sort, 'sort');
  });

  it('as a value that looks like an operator, code among them [WIRE-DB-13]', () => {
    const value = { $where: 'x', $function: new Code('x'), deep: [{ $out: 1, '\uff04out': '$$USER_ROLES' }] };
    for (const filter of [
      { a: { $eq: value } },
      { a: { b: value } },
      { a: [value] },
      { a: { $in: [[value]] } },
    ]) {
      checkFilter(filter, 'filter_dict');
      pipeline([{ $match: filter }]);
    }
    pipeline([{ $addFields: { a: { $literal: value } } }]);
  });
});

describe('the collections of a query [WIRE-DB-16]', () => {
  it('are listed once each, its own first, however deep the others are', () => {
    const inner = [{ $facet: { a: [{ $unionWith: 'c' }, { $unionWith: { coll: 'orders' } }] } }];
    const { sources } = pipeline([
      { $unionWith: { coll: 'b', pipeline: [{ $lookup: { from: 'd', as: 'x', pipeline: inner } }] } },
      { $graphLookup: { from: 'b', startWith: 1 } },
    ]);
    expect(sources.map(({ collection }) => collection)).toEqual(['orders', 'b', 'd', 'c']);
    expect(new Set(sources.map(({ database }) => database))).toEqual(new Set(['shop']));
  });
});

describe('a refusal', () => {
  it.each([
    [{ a: { $gtt: 1 } }, 'Did you mean $gt?'],
    [{ a: { $elementMatch: {} } }, 'Did you mean $elemMatch?'],
    [{ a: { $toLower: 'x' } }, '$expr'],
    [{ a: { $dateTrunc: {} } }, '$expr'],
    [{ $elemMatch: {} }, 'under a field'],
    [{ $bucketAuto: {} }, 'AggregateDocuments'],
    [{ $where: '1' }, '$expr'],
  ])('of the filter %j names the alternative: %s', (filter, hint) => {
    expect(refusal(() => checkFilter(filter, 'filter_dict')).fields.hint).toContain(hint);
  });

  it.each([
    [{ $filter: {} }, '$addFields'],
    [{ $lokup: {} }, 'Did you mean $lookup?'],
    [{ $lookup: { from: 'x', forignField: 'a' } }, 'Did you mean foreignField?'],
    [{ $lookup: { from: { db: 'a', coll: 'b' } } }, '"shop"'],
    [{ $group: { _id: 1, a: { $summ: 1 } } }, 'Did you mean $sum?'],
    [{ $project: { a: { $toUper: '$b' } } }, 'Did you mean $toUpper?'],
    [{ $project: { a: { $trim: { inpt: '$b' } } } }, 'Did you mean input?'],
    [{ $project: { a: '$$NOWW' } }, 'Did you mean $$NOW?'],
    [{ $out: 'x' }, 'save_to_sandbox'],
    [{ $geoNear: { near: [1, 1], distanceField: 'd' } }, 'beginning'],
  ])('of the stage %j names the alternative: %s', (stage, hint) => {
    const stages = [{ $match: {} }, stage];
    expect(refusal(() => pipeline(stages)).fields.hint).toContain(hint);
  });

  it('is short, whatever the names in the query are', () => {
    const key = 'x'.repeat(100_000);
    const nested = Array.from({ length: 40 }).reduce<unknown>((inner) => ({ [key]: inner }), { $where: 1 });
    for (const filter of [
      { [`$${key}`]: 1 },
      { [key]: { $where: 1 } },
      { $expr: nested },
      { $expr: `$$${key}` },
    ]) {
      expect(refusal(() => checkFilter(filter, 'filter_dict')).message.length).toBeLessThan(1_000);
    }
  });
});

describe('bounds', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

  it('hold for depth', () => {
    checkFilter(nested(DEPTH), 'filter_dict');
    expect(refusal(() => checkFilter(nested(DEPTH + 1), 'filter_dict')).message).toContain('deep');
    expect(refusal(() => checkFilter(nested(9_000), 'filter_dict')).message).toContain('deep');
  });

  it('hold for the number of values', () => {
    const list = (length: number) => ({ a: { $in: new Array(length).fill(1) } });
    checkFilter(list(QUERY_VALUES - 3), 'filter_dict');
    expect(refusal(() => checkFilter(list(QUERY_VALUES), 'filter_dict')).message).toContain('values');
  });

  it('hold for stages, of pipelines inside too', () => {
    const stages = new Array(MOST_STAGES + 1).fill({ $limit: 1 });
    pipeline(stages.slice(1));
    expectRefused(() => pipeline(stages), 'pipeline', '');
    expectRefused(() => pipeline([{ $facet: { a: stages } }]), 'pipeline', '[0].$facet.a');
  });
});
