/** The shape of what callers write as JSON text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textAllowance } from '../../../src/documentdb/bson/parse/parse.ts';
import { checkPipeline } from '../../../src/documentdb/guard/guard.ts';
import {
  readFilter,
  readPipeline,
  readProjection,
  readSort,
} from '../../../src/documentdb/query/query-text.ts';
import { SandhavenError } from '../../../src/model/errors.ts';

const MOST_SORT_FIELDS = 32;
const MOST_STAGES = 1_000;

interface Refusal {
  parameter: string | undefined;
  detail: string;
  hint: string;
}

function refusalOf(read: () => unknown): Refusal {
  try {
    read();
  } catch (error) {
    if (!(error instanceof SandhavenError) || error.code !== 'invalid_argument') throw error;
    return { parameter: error.fields.parameter, detail: error.message, hint: error.fields.hint ?? '' };
  }
  throw new Error('It was not refused.');
}

describe('a filter', () => {
  it('[DDB-FIND-02] is an object, and absent is every document', () => {
    expect(readFilter(undefined)).toEqual({});
    expect(readFilter('{"a": {"$gte": 1}}')).toEqual({ a: { $gte: 1 } });
  });

  it.each([
    ['[]', 'an array'],
    ['"a"', 'a string'],
    ['1', 'a number'],
    ['null', 'null'],
    ['{"$oid": "000000000000000000000001"}', 'ObjectId'],
    ['{"$date": "2024-01-01T00:00:00Z"}', 'a value of Extended JSON'],
  ])('is not %s', (text, kind) => {
    const refusal = refusalOf(() => readFilter(text));
    expect(refusal.parameter).toBe('filter_dict');
    expect(refusal.detail).toContain(`it is ${kind}`);
    expect(refusal.hint).toContain('{"');
  });

  it('is refused with its place when it is not JSON', () => {
    const refusal = refusalOf(() => readFilter('{"a": 1,\n "b": }'));
    expect([refusal.parameter, refusal.detail]).toEqual(['filter_dict', expect.stringContaining('line 2')]);
  });
});

describe('a projection', () => {
  it.each([
    ['{"a": 1, "b": true, "_id": 0}'],
    ['{"a": 0, "b": false, "_id": 1}'],
    ['{"a": {"$slice": 1}, "b": 0}'],
    ['{"a": {"b": 1, "c": 1}, "_id": false}'],
    ['{"total": {"$sum": ["$a", 0]}, "b": 1}'],
    ['{"copy": "$a", "b": 1}'],
    ['{"a": 1.0, "b": {"$numberLong": "1"}}'],
  ])('%s passes', (text) => {
    expect(Object.keys(readProjection(text) ?? {})).toEqual(Object.keys(JSON.parse(text)));
  });

  it.each([
    ['{"a": 1, "b": 0}', 'a', 'b'],
    ['{"a": 0, "b": {"$numberLong": "1"}}', 'b', 'a'],
    ['{"a": {"b": 1, "c": 0}}', 'a.b', 'a.c'],
    ['{"_id": 0, "a": 1, "b": false}', 'a', 'b'],
    ['{"_id.x": 0, "a": 1}', 'a', '_id.x'],
  ])('%s includes and excludes at once', (text, shown, hidden) => {
    const refusal = refusalOf(() => readProjection(text));
    expect(refusal.parameter).toBe('projection');
    expect(refusal.detail).toContain(`includes '${shown}' and excludes '${hidden}'`);
  });

  it('[DDB-FIND-03] absent or empty is every field', () => {
    expect([readProjection(undefined), readProjection('{}')]).toEqual([null, null]);
  });
});

describe('a sort', () => {
  const criterion = (field: string, direction: number) => JSON.stringify({ field, direction });

  it('[DDB-FIND-04] keeps the order of its criteria, whatever the fields are called', () => {
    const fields = fc.uniqueArray(fc.oneof(fc.string({ minLength: 1 }), fc.nat().map(String)), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        fields,
        fc.infiniteStream(fc.constantFrom(1 as const, -1 as const)),
        (names, directions) => {
          const wellFormed = names.filter((name) => name.isWellFormed());
          const wanted = wellFormed.map((name) => [name, directions.next().value] as const);
          const sort = readSort(wanted.map(([field, direction]) => criterion(field, direction)));
          expect([...(sort ?? [])]).toEqual(wanted);
        },
      ),
    );
  });

  it('takes a direction in any form of a number', () => {
    expect([...(readSort(['{"field": "a", "direction": -1.0}']) ?? [])]).toEqual([['a', -1]]);
    expect([...(readSort(['{"direction": {"$numberInt": "1"}, "field": "a"}']) ?? [])]).toEqual([['a', 1]]);
  });

  it.each([
    ['{"field": "a"}', 'needs direction', ''],
    ['{"direction": 1}', 'needs field', ''],
    ['{"field": "", "direction": 1}', 'needs field', ''],
    ['{"field": 3, "direction": 1}', 'needs field', ''],
    ['{"field": "a", "direction": 0}', 'neither 1', ''],
    ['{"field": "a", "direction": 2}', 'neither 1', ''],
    ['{"field": "a", "direction": null}', 'neither 1', ''],
    ['{"field": "a", "direction": "desc"}', 'neither 1', '{"field":"a","direction":-1}'],
    ['{"field": "a", "direction": "1"}', 'neither 1', '{"field":"a","direction":1}'],
    ['{"a": -1}', "unknown key 'a'", '{"field":"a","direction":-1}'],
    ['{"created_at": "ascending"}', "unknown key 'created_at'", '{"field":"created_at","direction":1}'],
    ['{"field": "a", "direction": 1, "order": 1}', "unknown key 'order'", ''],
    ['["a", 1]', 'must be a JSON object', ''],
    ['"a"', 'must be a JSON object', ''],
  ])('%s is refused', (text, detail, spelled) => {
    const refusal = refusalOf(() => readSort([criterion('first', 1), text]));
    expect(refusal.parameter).toBe('sort');
    expect(refusal.detail).toContain('sort[1]');
    expect(refusal.detail).toContain(detail);
    expect(refusal.hint).toContain(spelled === '' ? '"field"' : spelled);
  });

  it('names a field once, and not more than the limit', () => {
    const twice = refusalOf(() => readSort([criterion('a', 1), criterion('b', 1), criterion('a', -1)]));
    expect(twice.detail).toContain("sort[2] names the field 'a' a second time");
    const many = Array.from({ length: MOST_SORT_FIELDS + 1 }, (_, index) => criterion(`f${index}`, 1));
    expect(readSort(many.slice(1))?.size).toBe(MOST_SORT_FIELDS);
    expect(refusalOf(() => readSort(many)).detail).toContain(String(MOST_SORT_FIELDS));
  });
});

describe('a pipeline', () => {
  it('[DDB-AGG-01] is one object for each stage', () => {
    expect(readPipeline(['{"$match": {}}', '{"$limit": 1}'])).toEqual([{ $match: {} }, { $limit: 1 }]);
    expect(readPipeline([])).toEqual([]);
  });

  it('is refused with advice when it is given as one text', () => {
    const refusal = refusalOf(() => readPipeline(['[{"$match": {}}]']));
    expect(refusal.parameter).toBe('pipeline');
    expect(refusal.detail).toContain('pipeline[0]');
    expect(refusal.hint).toContain('each stage as an element of its own');
  });

  it('has no more stages than the limit', () => {
    const many = Array.from({ length: MOST_STAGES + 1 }, () => '{"$limit": 1}');
    expect(readPipeline(many.slice(1))).toHaveLength(MOST_STAGES);
    expect(refusalOf(() => readPipeline(many)).detail).toContain(String(MOST_STAGES));
  });
});

describe('the texts of one query', () => {
  const stage = (values: number) => `{"$match": {"a": {"$in": [${Array(values).fill(1).join(',')}]}}}`;
  const blank = (bytes: number) => `{}${' '.repeat(bytes - 2)}`;
  const tooLarge = (detail: string) =>
    expect.objectContaining({ code: 'too_large', message: detail, fields: expect.anything() });

  it('have 25,000 values together, of which each stage here has four besides its list', () => {
    expect(readPipeline([stage(12_490), stage(12_490)])).toHaveLength(2);
    expect(refusalOf(() => readPipeline([stage(12_490), stage(12_510)]))).toEqual({
      parameter: 'pipeline',
      detail: 'pipeline[1].$match.a.$in[12502] is more than 25000 values into the query.',
      hint: 'Ask for less at once, for instance with a shorter $in.',
    });
  });

  it('have 1 MiB together', () => {
    expect(readPipeline([blank(524_288), blank(524_288)])).toEqual([{}, {}]);
    expect(() => readPipeline([blank(524_288), blank(524_288), '{}'])).toThrow(
      tooLarge('With pipeline[2] the query is longer than 1048576 bytes.'),
    );
    const allowance = textAllowance();
    readFilter(blank(1_048_570), allowance);
    expect(() => readSort(['{"field": "a", "direction": 1}'], allowance)).toThrow(
      tooLarge('With sort[0] the query is longer than 1048576 bytes.'),
    );
  });

  it('are refused in less than 100 ms, however many values they have', () => {
    const hostile = [
      Array(22).fill(stage(500_000)),
      [stage(24_900)],
      [`{"$match": {"a": [${Array(12_400).fill('{"$numberDecimal":"1.5"}').join(',')}]}}`],
      [`{"$match": {${Array.from({ length: 24_900 }, (_, at) => `"f${at}":1`).join(',')}}}`],
    ];
    for (const texts of hostile) {
      // In time of the processor, which others on the machine do not lengthen; the first time code is compiled too.
      const times = Array.from({ length: 5 }, () => {
        const begun = process.cpuUsage();
        try {
          checkPipeline(readPipeline(texts), 'pipeline', { database: 'd', collection: 'c' });
        } catch (error) {
          if (!(error instanceof SandhavenError)) throw error;
        }
        const { user, system } = process.cpuUsage(begun);
        return (user + system) / 1_000;
      });
      expect(Math.min(...times)).toBeLessThan(100);
    }
  });
});
