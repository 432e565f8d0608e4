/** Details of fields: which there are, in which order they are added, and what fits. */
import { describe, expect, it } from 'vitest';
import {
  addDetails,
  bytesOf,
  detailsOf,
  type FieldView,
  withoutDetails,
} from '../../../src/catalog/documentdb/schema-detail.ts';
import type { FieldSchema } from '../../../src/model/document-schema.ts';

const ofType = (...types: string[]) => types.map((type) => ({ type, count: 10, probability: 1 }));

function field(known: Partial<FieldSchema>): FieldSchema {
  return { path: 'a', types: ofType('string'), probability: 1, examples: [], ...known };
}

/** Parts of a field in their order, each as its round and what it sets. */
function parts(known: Partial<FieldSchema>): [number, Partial<FieldView>][] {
  const whole = field(known);
  return detailsOf(whole, withoutDetails(whole)).map(({ round, part }) => [round, part]);
}

const counted = (...values: unknown[]) => values.map((value, index) => ({ value, count: 10 - index }));

describe('the required keys of a field', () => {
  it('are its path, types and probability, and no examples', () => {
    expect(withoutDetails(field({ path: 'a.b', probability: 0.5 }))).toEqual({
      ...{
        path: 'a.b',
        types: [{ type: 'string', count: 10, probability: 1 }],
        probability: 0.5,
        examples: [],
      },
    });
  });

  it('have the number of names where names are data', () => {
    expect(withoutDetails(field({ keys: 12 }))).toMatchObject({ keys: 12 });
    expect(withoutDetails(field({}))).not.toHaveProperty('keys');
  });

  it('have the elements of an array, and none for an array that was empty everywhere', () => {
    const [array] = ofType('array');
    const typesOf = (elements: FieldSchema['types']) =>
      withoutDetails(field({ types: [{ ...array, type: 'array', count: 10, probability: 1, elements }] }))
        .types;
    expect(typesOf(ofType('int', 'string'))[0]).toMatchObject({ elements: { int: 10, string: 10 } });
    expect(typesOf([])[0]).not.toHaveProperty('elements');
  });

  it.each([
    [0, 0],
    [0.0001, 0.001],
    [0.12345, 0.123],
    [0.9999, 0.999],
    [1, 1],
  ])('show a probability of %d as %d', (probability, shown) => {
    expect(withoutDetails(field({ probability })).probability).toBe(shown);
  });
});

describe('an enum', () => {
  it('that is short comes first, its counts later, without examples and bounds', () => {
    expect(parts({ enum: counted('new', 'done'), examples: ['new'], min: 1, max: 2 })).toEqual([
      [1, { enum: ['new', 'done'] }],
      [4, { enum_counts: [10, 9] }],
    ]);
  });

  it.each([
    // As JSON, with brackets and quotes: 60 + 4 bytes, then 61 + 4.
    [60, 1],
    [61, 3],
  ])('with one text of %d letters comes in round %d', (letters, round) => {
    const text = 'x'.repeat(letters);
    expect(parts({ enum: counted(text) })[0]).toEqual([round, { enum: [text] }]);
  });

  it('is left out from 501 bytes as JSON', () => {
    const fits = 'x'.repeat(496);
    expect(parts({ enum: counted(fits) })[0]).toEqual([3, { enum: [fits] }]);
    expect(parts({ enum: counted(`${fits}x`) })).toEqual([]);
  });

  it('of two bools waits, since the type says as much', () => {
    const wait = [
      [4, { enum: [true, false] }],
      [4, { enum_counts: [10, 9] }],
    ];
    expect(parts({ types: ofType('bool'), enum: counted(true, false) })).toEqual(wait);
    expect(parts({ types: ofType('bool', 'null'), enum: counted(true, false) })).toEqual(wait);
  });

  it('of one bool, or of bools beside texts, comes first', () => {
    expect(parts({ types: ofType('bool'), enum: counted(true) })[0]).toEqual([1, { enum: [true] }]);
    const mixed = parts({ types: ofType('bool', 'string'), enum: counted(true, 'x') });
    expect(mixed[0]).toEqual([1, { enum: [true, 'x'] }]);
  });

  it('of three numbers waits behind its bounds', () => {
    expect(parts({ types: ofType('int'), enum: counted(3, 1, 2), min: 1, max: 3 })).toEqual([
      [2, { min: 1, max: 3 }],
      [4, { enum: [3, 1, 2] }],
      [4, { enum_counts: [10, 9, 8] }],
    ]);
  });

  it('of two numbers, or of numbers beside texts, comes first', () => {
    expect(parts({ types: ofType('int'), enum: counted(1, 2), min: 1, max: 2 })[0]).toEqual([
      1,
      { enum: [1, 2] },
    ]);
    const mixed = parts({ types: ofType('int', 'string'), enum: counted(1, 2, 'x'), min: 1, max: 2 });
    expect(mixed[0]).toEqual([1, { enum: [1, 2, 'x'] }]);
  });
});

describe('bounds', () => {
  it('of numbers come whole', () => {
    expect(parts({ types: ofType('int'), min: 1, max: 9, examples: [1, 5] })).toEqual([
      [2, { min: 1, max: 9 }],
    ]);
  });

  it('of dates come as days first, and whole later', () => {
    const min = { $date: '2024-02-03T04:05:06Z' };
    const max = { $date: '2025-06-07T08:09:10Z' };
    expect(parts({ types: ofType('date'), min, max, examples: [min] })).toEqual([
      [2, { min: '2024-02-03', max: '2025-06-07' }],
      [4, { min, max }],
    ]);
  });

  it.each([
    ['the last', { $date: '2024-02-03T04:05:06Z' }, { $date: { $numberLong: '1' } }],
    ['the first', { $date: { $numberLong: '-1' } }, { $date: '2024-02-03T04:05:06Z' }],
  ])('of dates of which %s has no text come whole', (_, min, max) => {
    expect(parts({ types: ofType('date'), min, max })).toEqual([[2, { min, max }]]);
  });

  it('that are null come whole', () => {
    expect(parts({ types: ofType('int'), min: null, max: null })).toEqual([[2, { min: null, max: null }]]);
  });
});

describe('examples', () => {
  it('come one by one: the first early, and all after the third round', () => {
    expect(parts({ examples: ['a', 'b', 'c'] })).toEqual([
      [2, { examples: ['a'] }],
      [4, { examples: ['a'] }],
      [5, { examples: ['a', 'b'] }],
      [6, { examples: ['a', 'b', 'c'] }],
    ]);
  });

  it('are cut after 23 characters at first, when they have more than 24', () => {
    const longest = '😀'.repeat(24);
    expect(parts({ examples: [longest] })[0]).toEqual([2, { examples: [longest] }]);
    expect(parts({ examples: [`${longest}x`] })).toEqual([
      [2, { examples: [`${'😀'.repeat(23)}…`] }],
      [4, { examples: [`${longest}x`] }],
    ]);
  });

  it('that are no text come as they are', () => {
    expect(parts({ types: ofType('object'), examples: [{ a: 1 }] })[0]).toEqual([
      2,
      { examples: [{ a: 1 }] },
    ]);
  });

  it.each([[['objectId']], [['binData']], [['objectId', 'null']], [['binData', 'null', 'objectId']]])(
    'of %j: one, at the very end',
    (types) => {
      const examples = [{ $oid: '1' }, { $oid: '2' }];
      expect(parts({ types: ofType(...types), examples })).toEqual([[6, { examples: [{ $oid: '1' }] }]]);
      expect(parts({ types: ofType(...types), examples: [] })).toEqual([]);
    },
  );

  it('of ids beside texts are examples like others', () => {
    expect(parts({ types: ofType('objectId', 'string'), examples: ['a'] })[0]).toEqual([
      2,
      { examples: ['a'] },
    ]);
  });

  it('beside bounds are texts alone', () => {
    expect(parts({ types: ofType('int', 'string'), min: 1, max: 2, examples: [1, 'a', 2] })).toEqual([
      [2, { min: 1, max: 2 }],
      [2, { examples: ['a'] }],
      [4, { examples: ['a'] }],
    ]);
  });
});

describe('other details', () => {
  it('of names that are data: one name first, the others later', () => {
    expect(parts({ types: ofType('object'), keys: 9, keyExamples: ['x', 'y'] })).toEqual([
      [1, { key_examples: ['x'] }],
      [5, { key_examples: ['x', 'y'] }],
    ]);
    expect(parts({ keyExamples: [] })).toEqual([]);
  });

  it('of strings beside other types: their patterns', () => {
    expect(parts({ patterns: ['9 kg'] })).toEqual([[2, { patterns: ['9 kg'] }]]);
  });

  it('of arrays: their lengths, the average with two digits', () => {
    expect(parts({ arrayLength: { min: 0, max: 7, average: 1.23456 } })).toEqual([
      [3, { array_length: { min: 0, max: 7, average: 1.23 } }],
    ]);
  });
});

describe('adding details', () => {
  const view = (): FieldView => ({ path: 'a', types: [], probability: 1, examples: [] });

  it('adds what fits to the byte, a comma included', () => {
    // `,"enum":["x"]`
    const detail = (to: FieldView) => [{ view: to, round: 1, part: { enum: ['x'] } }];
    const [fits, short] = [view(), view()];
    const before = bytesOf(fits);
    expect(addDetails(detail(fits), 13)).toBe(0);
    expect(bytesOf(fits) - before).toBe(13);
    expect(addDetails(detail(short), 12)).toBe(1);
    expect(short).toEqual(view());
  });

  it('counts only the growth of what was there', () => {
    const to = view();
    const grown = [{ view: to, round: 2, part: { examples: ['ab'] } }];
    // `[]` becomes `["ab"]`.
    expect(addDetails(grown, 3)).toBe(1);
    expect(addDetails(grown, 4)).toBe(0);
    expect(to.examples).toEqual(['ab']);
  });

  it('goes round by round, and takes the cheapest first in each', () => {
    const [long, short, late] = [view(), view(), view()];
    const details = [
      { view: late, round: 2, part: { enum: ['1'] } },
      { view: long, round: 1, part: { enum: ['12345'] } },
      { view: short, round: 1, part: { enum: ['12'] } },
    ];
    expect(addDetails(details, 14 + 17)).toBe(1);
    expect([short.enum, long.enum, late.enum]).toEqual([['12'], ['12345'], undefined]);
  });

  it('counts each field once that misses something of the first three rounds', () => {
    const [first, second] = [view(), view()];
    const missing = (to: FieldView, round: number) => ({ view: to, round, part: { enum: ['long enough'] } });
    expect(addDetails([missing(first, 1), missing(first, 3), missing(second, 3)], 5)).toBe(2);
    expect(addDetails([missing(first, 4), missing(second, 5)], 5)).toBe(0);
  });

  it('shows no counts of values that it does not show', () => {
    const to = view();
    const details = [
      { view: to, round: 1, part: { enum: ['a value without room'] } },
      { view: to, round: 4, part: { enum_counts: [1] } },
    ];
    expect(addDetails(details, 30)).toBe(1);
    expect(to).toEqual(view());
  });

  it('keeps the fields inside last', () => {
    const to: FieldView = { ...view(), fields: [view()] };
    addDetails([{ view: to, round: 1, part: { enum: [1] } }], 100);
    expect(Object.keys(to)).toEqual(['path', 'types', 'probability', 'examples', 'enum', 'fields']);
    const alone = view();
    addDetails([{ view: alone, round: 1, part: { enum: [1] } }], 100);
    expect(Object.keys(alone)).toEqual(['path', 'types', 'probability', 'examples', 'enum']);
  });
});
