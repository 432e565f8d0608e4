/** The filter that goes on where a page ended. */
import { describe, expect, it } from 'vitest';
import {
  Binary,
  Decimal128,
  Double,
  Long,
  MaxKey,
  ObjectId,
  serialize,
  Timestamp,
} from '../../../src/documentdb/bson/library.ts';
import { parseEjson } from '../../../src/documentdb/bson/parse/parse.ts';
import { beyond, nextPage, type PageEnd } from '../../../src/documentdb/query/find.ts';

const end = (last: unknown, more: Partial<PageEnd> = {}): PageEnd => ({
  filter: {},
  projection: null,
  sort: new Map([['_id', 1]]),
  skipped: 0,
  returned: 10,
  last: serialize({ _id: last }),
  ...more,
});

/** Where the collection ends with this `_id`. */
const ending = (id: unknown) => async () => serialize({ _id: id });

describe('a page that goes on by a filter', () => {
  it.each([
    ['an ObjectId', new ObjectId('00000000000000000000000a'), new ObjectId()],
    ['a string', 'b', 'z'],
    ['an int before a decimal', 5, Decimal128.fromString('9.5')],
    ['a long that JSON cannot hold', Long.MAX_VALUE, Long.MAX_VALUE],
    ['a date', new Date(5), new Date(9)],
    ['a UUID', new Binary(Buffer.alloc(16, 1), 4), new Binary(Buffer.alloc(16, 2), 4)],
    ['a timestamp', new Timestamp({ t: 1, i: 1 }), new Timestamp({ t: 2, i: 1 })],
  ])('ends with %s, exactly', async (_, last, farthest) => {
    const next = await nextPage(end(last), ending(farthest));
    if (!next || !('filter' in next)) throw new Error('There is no filter.');
    const filter = parseEjson(next.filter, 'filter_dict') as object;
    expect(serialize(filter)).toEqual(serialize({ _id: { $gt: last } }));
  });

  it('asks for the end in the direction of the sort', async () => {
    const asked: number[] = [];
    for (const direction of [1, -1] as const) {
      await nextPage(end(1, { sort: new Map([['_id', direction]]) }), async (towards) => {
        asked.push(towards);
        return null;
      });
    }
    expect(asked).toEqual([1, -1]);
  });
});

describe('a page that goes on by skipping', () => {
  it.each<[string, PageEnd, unknown]>([
    ['another kind comes later', end(1), 'a'],
    ['the end is not known', end(1), undefined],
    ['it ended with no number', end(new Double(Number.NaN)), 5],
    ['it ended with null', end(null), null],
    ['it ended with a list of fields', end({ a: 1 }), { a: 2 }],
    ['it ended with the last key there is', end(new MaxKey()), new MaxKey()],
    ['it was sorted by something else', end(1, { sort: new Map([['a', 1]]) }), 5],
    [
      'it was sorted by more',
      end(1, {
        sort: new Map([
          ['_id', 1],
          ['a', 1],
        ]),
      }),
      5,
    ],
    ['it was not sorted', end(1, { sort: null }), 5],
    ['it does not show _id', end(1, { projection: { _id: 0 } }), 5],
    ['it shows another _id', end(1, { projection: { _id: '$a' } }), 5],
    ['it shows a part of _id', end(1, { projection: { '_id.a': 1 } }), 5],
  ])('%s', async (_, page, farthest) => {
    expect(await nextPage(page, ending(farthest))).toEqual({ skip: 10 });
  });

  it('adds to what was skipped, up to what may be', async () => {
    expect(await nextPage(end(1, { skipped: 5 }), ending(9))).toEqual({ skip: 15 });
    expect(await nextPage(end(1, { skipped: 2_147_483_640 }), ending(9))).toBeUndefined();
  });
});

describe('a filter beyond an _id', () => {
  it.each([
    [{}, { _id: { $gt: 7 } }],
    [{ a: 1 }, { a: 1, _id: { $gt: 7 } }],
    [{ _id: { $gt: 3 } }, { _id: { $gt: 7 } }],
    [{ _id: { $gt: 3, $lt: 9 } }, { $and: [{ _id: { $gt: 3, $lt: 9 } }, { _id: { $gt: 7 } }] }],
    [{ _id: { $lt: 9 } }, { $and: [{ _id: { $lt: 9 } }, { _id: { $gt: 7 } }] }],
    [{ _id: { $in: [1, 9] }, a: 1 }, { $and: [{ _id: { $in: [1, 9] }, a: 1 }, { _id: { $gt: 7 } }] }],
    [{ $or: [{ a: 1 }] }, { $or: [{ a: 1 }], _id: { $gt: 7 } }],
  ])('of %j is %j', (filter, expected) => {
    expect(beyond(filter, 7, 1)).toEqual(expected);
  });
});
