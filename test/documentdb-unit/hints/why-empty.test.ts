/** An empty result says why, as precisely as can be known cheaply. */

import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Decimal128, ObjectId } from '../../../src/documentdb/bson/library.ts';
import { mismatches } from '../../../src/documentdb/hints/mismatches.ts';
import type { Probe } from '../../../src/documentdb/hints/probe.ts';
import { explainEmpty, explainEmptyPipeline } from '../../../src/documentdb/hints/why-empty.ts';
import type { CollectionSchema } from '../../../src/model/document-schema.ts';
import { ordersSchema } from './orders.ts';

const schema = ordersSchema({ sampleMethod: 'all', documentCount: 1_000 });
const unasked: Probe = () => Promise.reject(new Error('asked'));

function explain(filter: unknown, probe: Probe = unasked, of: CollectionSchema = schema): Promise<string[]> {
  return explainEmpty({ filter, schema: of, probe });
}

/** Documents that a probe finds something in when all that it is asked for is among what one of them has. */
function having(...documents: string[][]): { probe: Probe; asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    probe: async (filter) => {
      const all = (filter['$and'] as Record<string, unknown>[] | undefined) ?? [filter];
      const names = all.flatMap((one) => Object.keys(one));
      asked.push(names);
      return documents.some((document) => names.every((name) => document.includes(name)));
    },
  };
}

describe('a type that the field does not hold', () => {
  it.each<[string, unknown, string]>([
    [
      'a number as a string',
      { quantity: '5' },
      'quantity is compared with the string "5", but holds int and long; only values of one type are ever equal or in order. Write 5 without quotes.',
    ],
    [
      'a string as a number',
      { zip: 1099 },
      'zip is compared with the number 1099, but holds string; only values of one type are ever equal or in order. Write "1099" in quotes.',
    ],
    ['a truth as a string', { paid: 'True' }, 'Write true without quotes.'],
    [
      'a date as a number',
      { created_at: { $gte: 1_700_000_000 } },
      'Write a date as {"$date": "2024-01-31T00:00:00Z"}.',
    ],
    [
      'a date in other words',
      { created_at: '31.1.2024' },
      'Write a date as {"$date": "2024-01-31T00:00:00Z"}.',
    ],
    [
      'an id in other words',
      { customer_id: 'C-17' },
      'Write an objectId as {"$oid": "…"} with 24 hexadecimal digits.',
    ],
    [
      'an objectId for a string',
      { zip: new ObjectId('64f0c0ffee64f0c0ffee64f0') },
      'Write it as the string that the documents have such as "01099".',
    ],
    [
      'a UUID',
      { token: '123e4567-e89b-12d3-a456-426614174000' },
      'Write {"$uuid": "123e4567-e89b-12d3-a456-426614174000"}.',
    ],
    [
      'an expression on dates',
      { created_at: { $regex: '^2024' } },
      '$regex matches strings only, but created_at holds date. Use $gte and $lt with {"$date": "…"}.',
    ],
    ['the size of no list', { zip: { $size: 2 } }, '$size counts arrays only, but zip holds string.'],
    ['all of a list', { quantity: { $in: ['1', '2'] } }, 'Write 1 without quotes.'],
  ])('%s', async (_, filter, expected) => {
    const notes = mismatches(filter, schema, 'filter_dict');
    expect(notes).toEqual([expect.stringContaining(expected)]);
    expect(notes[0]).toMatch(/^filter_dict: /);
    expect(await explain(filter)).toEqual(notes);
  });

  it.each<[string, unknown]>([
    ['another number', { quantity: 1.5, total: 3 }],
    ['null', { quantity: null }],
    ['one of a list', { quantity: { $in: ['1', 2] } }],
    ['an element', { tags: 'x' }],
    ['a whole list', { tags: ['x'] }],
    ['an expression on elements', { tags: /x/ }],
    ['a field that is only null', { note: 'x' }],
    ['a field that is not there', { nowhere: 1 }],
  ])('but not %s', (_, filter) => {
    expect(mismatches(filter, schema, 'filter_dict')).toEqual([]);
  });
});

describe('a value that the field does not have', () => {
  it.each<[string, unknown, string]>([
    [
      'in another case',
      { status: 'Paid' },
      'filter_dict: status is never "Paid", but "paid": comparison of strings is case-sensitive and counts spaces.',
    ],
    ['with spaces', { status: 'paid ' }, 'but "paid"'],
    ['a slip', { status: 'shiped' }, 'filter_dict: status is never "shiped". Did you mean "shipped"?'],
    [
      'another word',
      { status: 'gone' },
      'filter_dict: status is never "gone". Its values: "paid", "shipped" and "cancelled".',
    ],
    ['all of a list', { status: { $in: ['PAID', 'gone'] } }, 'status is never "PAID" and "gone", but "paid"'],
    [
      'a number above',
      { quantity: { $gt: 99 } },
      'filter_dict: quantity goes from 1 to 99; $gt 99 is outside.',
    ],
    ['a number below', { quantity: { $lte: 0 } }, '$lte 0 is outside'],
    ['a decimal above', { total: { $gte: Decimal128.fromString('1000') } }, 'is outside'],
    [
      'a date after',
      { created_at: { $gte: new Date('2025-01-01Z') } },
      'created_at goes from {"$date":"2023-01-01T00:00:00Z"} to {"$date":"2024-12-31T23:59:59Z"}; $gte {"$date":"2025-01-01T00:00:00Z"} is outside.',
    ],
    ['a date before', { created_at: { $lt: new Date('2023-01-01Z') } }, 'is outside'],
    ['in $and', { $and: [{ paid: true }, { status: 'Paid' }] }, 'status is never "Paid"'],
  ])('%s', async (_, filter, expected) => {
    expect(await explain(filter)).toEqual([expect.stringContaining(expected)]);
  });

  it('a sample is called a sample', async () => {
    const [note] = await explain({ status: 'Paid' }, unasked, ordersSchema());
    expect(note).toContain('status is never "Paid" in the 1000 documents sampled, but "paid"');
  });

  it.each<[string, unknown]>([
    ['within', { quantity: { $gte: 99 } }],
    ['at the lower end', { quantity: { $lte: 1 } }],
    ['one of a list', { status: { $in: ['gone', 'paid'] } }],
    ['not a number', { quantity: { $gt: Number.NaN } }],
    ['what may be there', { $or: [{ status: 'gone' }, { paid: true }] }],
  ])('but not what is %s', async (_, filter) => {
    expect(await explain(filter, async () => null)).toEqual([]);
  });
});

it('a field that is not there is said', async () => {
  expect(await explain({ city: 'x' })).toEqual([
    'filter_dict: city is in none of the 1000 documents. Did you mean address.city?',
  ]);
});

it('a collection without documents is said', async () => {
  const empty = ordersSchema({ sampled: 0, fields: [] });
  expect(await explain({ a: 1 }, unasked, empty)).toEqual([
    'The collection had no documents when its schema was loaded.',
  ]);
});

describe('asking the server', () => {
  it('names a condition that matches nothing alone', async () => {
    const { probe, asked } = having(['zip', 'paid']);
    expect(await explain({ zip: 9, $and: [{ paid: true }, { zip: '1' }] }, probe)).toEqual(
      await explain({ zip: 9 }, probe),
    );
    const filter = { zip: '1', paid: true, tags: { $size: 99 } };
    expect(await explain(filter, probe)).toEqual([
      'filter_dict: no document matches {"tags":{"$size":99}}, whatever else is asked.',
    ]);
    expect(asked).toEqual([['zip'], ['paid'], ['tags']]);
  });

  it('names the condition with which nothing is left', async () => {
    const { probe, asked } = having(['zip', 'paid'], ['tags'], ['extra']);
    const filter = { zip: '1', paid: true, tags: 'x', extra: {} };
    expect(await explain(filter, probe)).toEqual([
      'filter_dict: there are documents with {"zip":"1"} and {"paid":true}, and with {"tags":"x"}, but none with both.',
    ]);
    expect(asked.slice(4)).toEqual([
      ['zip', 'paid'],
      ['zip', 'paid', 'tags'],
    ]);
  });

  it('does not ask for two together, since these are the filter', async () => {
    const { probe, asked } = having(['zip'], ['paid']);
    const told = await explain({ zip: '1', paid: true }, probe);
    expect(told).toEqual([expect.stringContaining('but none with both')]);
    expect(asked).toEqual([['zip'], ['paid']]);
  });

  it('finds a string in another case', async () => {
    const asked: unknown[] = [];
    const probe: Probe = async (filter) => asked.push(filter) > 0;
    expect(await explain({ zip: 'a.b c' }, probe)).toEqual([
      expect.stringContaining('{"zip":"a.b c"} matches in another case only'),
    ]);
    expect(asked).toEqual([{ zip: { $regex: '^a\\.b c$', $options: 'i' } }]);
  });

  it('asks at most eight times', async () => {
    const probe = vi.fn<Probe>(async () => true);
    const filter = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`counts.k${index}`, 1]));
    const [note] = await explain(filter, probe, { ...schema, fields: schema.fields });
    expect(probe).toHaveBeenCalledTimes(8);
    expect(note).toContain('each of its conditions alone matches documents');
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`counts.k${index}`, 1]));
    expect(await explain(many, probe)).toEqual([]);
    expect(probe).toHaveBeenCalledTimes(16);
  });

  it('waits no longer than its bound, whatever the server does', async () => {
    const probe = vi.fn<Probe>(() => new Promise(() => undefined));
    const begun = performance.now();
    expect(await explain({ zip: '1', paid: true }, probe)).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(probe).toHaveBeenCalledTimes(1);
  });

  it('stops after the first late answer, even when the clock shows time left', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    const probe = vi.fn<Probe>(() => new Promise(() => undefined));
    expect(await explain({ zip: '1', paid: true }, probe)).toEqual([]);
    expect(probe).toHaveBeenCalledTimes(1);
  });

  it('is silent when the server fails, and asks nothing once the caller has gone', async () => {
    const failing: Probe = () => {
      throw new Error('gone');
    };
    expect(await explain({ zip: '1', paid: true }, failing)).toEqual([]);
    const signal = AbortSignal.abort();
    const probe = vi.fn<Probe>(async () => true);
    expect(await explainEmpty({ filter: { zip: '1', paid: true }, schema, probe, signal })).toEqual([]);
    expect(probe).not.toHaveBeenCalled();
  });

  it('asks a large collection only by its indexes', async () => {
    const { probe, asked } = having(['zip']);
    const large = ordersSchema({ documentCount: 100_001 });
    expect(await explain({ paid: true, zip: 'x', 'items.sku': 'y' }, probe, large)).toEqual([
      'filter_dict: no document matches {"items.sku":"y"}, whatever else is asked.',
    ]);
    expect(asked).toEqual([['zip'], ['items.sku']]);
  });

  it('asks no view, whose cost is not known', async () => {
    const view = ordersSchema({ type: 'view', documentCount: 0, indexes: [] });
    expect(await explain({ paid: true, zip: 'x' }, unasked, view)).toEqual([]);
  });

  it('never fails, whatever the filter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (filter) => {
        const notes = await explain(filter, async () => false);
        expect(notes.length).toBeLessThanOrEqual(3);
      }),
    );
  });
});

describe('an empty pipeline', () => {
  const question = { schema, probe: unasked };

  it('is explained by the filter at its beginning', async () => {
    expect(
      await explainEmptyPipeline([{ $match: { status: 'Paid' } }, { $group: { _id: '$zip' } }], question),
    ).toEqual([expect.stringMatching(/^pipeline\[0\]: status is never "Paid"/)]);
  });

  it('names the stages that let documents go, when that filter matches some', async () => {
    const stages = [
      { $match: { zip: '1' } },
      { $unwind: '$tags' },
      { $project: { tags: 1 } },
      { $match: { tags: 'x' } },
    ];
    expect(await explainEmptyPipeline(stages, { schema, probe: async () => true })).toEqual([
      'pipeline[0] matches documents; none is left by pipeline[1] ($unwind) and pipeline[3] ($match).',
    ]);
    expect(await explainEmptyPipeline(stages.slice(1), question)).toEqual([
      'The collection has documents; none is left by pipeline[0] ($unwind) and pipeline[2] ($match).',
    ]);
  });

  it('joins what several stages at the beginning ask for', async () => {
    const { probe, asked } = having(['zip'], ['paid']);
    const stages = [{ $match: { zip: '1' } }, { $sort: { zip: 1 } }, { $match: { paid: true } }];
    expect(await explainEmptyPipeline(stages, { schema, probe })).toEqual([
      expect.stringMatching(/^pipeline: there are documents with .* but none with both\.$/),
    ]);
    expect(asked).toEqual([['zip'], ['paid']]);
  });

  it('never fails, whatever the stages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), fc.jsonValue(), async (stages, filter) => {
        const probe: Probe = async () => true;
        await explainEmptyPipeline(stages, { schema, probe });
        await explainEmptyPipeline([{ $match: filter }, { $sort: filter }, ...stages], { schema, probe });
      }),
    );
  });
});
