/** What is said of a query as a whole: little, in order, and nothing when all is well. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectId } from '../../../src/documentdb/bson/library.ts';
import type { Probe } from '../../../src/documentdb/hints/probe.ts';
import { adviseFind, advisePipeline, arrangeNotes } from '../../../src/documentdb/query/advice.ts';
import { coerceFilter } from '../../../src/documentdb/query/coercion/coerce-filter.ts';
import { asWritten, type Settlement } from '../../../src/documentdb/query/coercion/settle.ts';
import { ordersSchema } from './orders.ts';

const MOST_NOTES = 10;
const NOTE_CHARS = 600;

const schema = ordersSchema();
const HEX = '64f0c0ffee64f0c0ffee64f0';
const probe: Probe = async () => null;
const found = { settlement: asWritten, empty: false, schema, probe };
const nothing = { ...found, empty: true };

/** As if the other form of the filter was tried, and matched nothing either. */
function neither(filter: unknown): Settlement {
  return { outcome: 'neither', strings: coerceFilter(filter)?.strings ?? [], notes: [] };
}

describe('a find', () => {
  it('has no notes when it is well made', async () => {
    const filter = { customer_id: new ObjectId(HEX) };
    expect(await adviseFind({ ...found, filter, projection: { status: 1 }, sort: ['_id'] })).toEqual([]);
  });

  it('gets what was tried first, then why it is empty, then what is doubtful and slow', async () => {
    const filter = { customer_id: { $ne: HEX }, status: 'Paid', stauts: { $exists: false } };
    const notes = await adviseFind({ ...nothing, filter, sort: ['_id'], settlement: neither(filter) });
    expect(notes).toEqual([
      expect.stringMatching(
        /^filter_dict matches nothing as written, nor where it compares customer_id with/,
      ),
      expect.stringContaining('status is never "Paid"'),
      expect.stringContaining('Did you mean'),
      expect.stringContaining('no index narrows it'),
    ]);
  });

  it('has no note on another form when its strings are what the field holds', async () => {
    const filter = { zip: '10999' };
    const notes = await adviseFind({ ...nothing, filter, settlement: neither(filter) });
    expect(notes.filter((note) => note.includes('as written'))).toEqual([]);
  });

  it('[WIRE-DB-18] has a note on a type that cannot match though it found something as written', async () => {
    const filter = { customer_id: { $ne: HEX } };
    expect(await adviseFind({ ...found, filter })).toEqual([
      expect.stringMatching(
        /customer_id is compared with the string .* but holds objectId.* Write \{"\$oid"/,
      ),
      expect.stringContaining('no index narrows it'),
    ]);
  });

  it('has one note for each fault', async () => {
    const small = ordersSchema({ documentCount: 5 });
    const asked = { ...nothing, filter: { quantity: '5x', nmae: 1 }, schema: small };
    const notes = await adviseFind(asked);
    expect(notes).toEqual([expect.stringContaining('quantity'), expect.stringContaining('nmae')]);
  });

  it('has only the note on its result when its collection is unknown', async () => {
    const settlement: Settlement = { outcome: 'coerced', strings: [], notes: ['changed'] };
    const asked = { ...found, filter: { customer_id: HEX, nmae: 1 }, schema: null };
    expect(await adviseFind({ ...asked, settlement })).toEqual(['changed']);
  });

  it('has only that note beyond 2,000 conditions too', async () => {
    const settlement: Settlement = { outcome: 'coerced', strings: [], notes: ['changed'] };
    const filter = (length: number) => ({ $or: Array(length).fill({ nmae: 1 }) });
    expect(await adviseFind({ ...nothing, filter: filter(2_001), settlement })).toEqual(['changed']);
    expect((await adviseFind({ ...nothing, filter: filter(2_000), settlement })).length).toBeGreaterThan(1);
  });
});

describe('a pipeline', () => {
  const settlement: Settlement = { outcome: 'coerced', strings: [], notes: ['changed'] };
  const advised = (stages: Record<string, unknown>[]) =>
    advisePipeline({ ...nothing, stages, used: stages, settlement });

  it('has only the note on its result beyond 100 stages, or 2,000 conditions in all', async () => {
    const match = { $match: { $or: Array(1_000).fill({ nmae: 1 }) } };
    expect(await advised([match, match, { $match: { nmae: 1 } }])).toEqual(['changed']);
    expect((await advised([match, match])).length).toBeGreaterThan(1);
    expect(await advised(Array(101).fill({ $match: { nmae: 1 } }))).toEqual(['changed']);
    expect((await advised(Array(100).fill({ $match: { nmae: 1 } }))).length).toBeGreaterThan(1);
  });
});

describe('a comparison in $expr', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'a date with a string',
      { $gte: ['$created_at', '2024-01-31'] },
      /^filter_dict: \$gte compares created_at with the string "2024-01-31", but it holds date in the 1000 documents sampled; expressions order values of different types by their types\. Write \{"\$date":"2024-01-31T00:00:00Z"\}\.$/,
    ],
    ['in the other order', { $eq: [HEX, '$customer_id'] }, /\$eq compares customer_id .*Write \{"\$oid"/],
    ['deep inside', { $and: [{ $not: [{ $lt: ['$quantity', '5'] }] }] }, /Write 5 without quotes\.$/],
    ['in a list', { $in: ['$created_at', ['2024-01-31']] }, /\$in compares created_at/],
    ['a literal', { $eq: ['$created_at', { $literal: '2024-01-31' }] }, /\$eq compares created_at/],
  ])('of %s is noted, with what to write', async (_, $expr, expected) => {
    const [note] = await adviseFind({ ...found, filter: { $expr } });
    expect(note).toMatch(expected);
  });

  it.each<[string, unknown]>([
    ['a string with a string', { $eq: ['$zip', '2024-01-31'] }],
    ['two fields', { $eq: ['$created_at', '$zip'] }],
    ['a variable', { $eq: ['$created_at', '$$NOW'] }],
    ['a date with a date', { $gte: ['$created_at', new Date(0)] }],
    ['a field that is not known', { $eq: ['$nowhere', 'x'] }],
  ])('of %s is not', async (_, $expr) => {
    const notes = await adviseFind({ ...found, filter: { $expr } });
    expect(notes.filter((note) => note.includes('compares'))).toEqual([]);
  });

  it('is noted in a stage that computes, as long as the field is the collection’s own', async () => {
    const isLate = { $cond: [{ $gt: ['$created_at', '2024-01-31'] }, 1, 0] };
    const stages = [{ $group: { _id: null, n: { $sum: isLate } } }];
    expect(await advisePipeline({ ...found, stages, used: stages })).toEqual([
      expect.stringMatching(/^pipeline\[0\]: \$gt compares created_at/),
    ]);
    const own = [{ $set: { created_at: 'x' } }, ...stages];
    expect(await advisePipeline({ ...found, stages: own, used: own })).toEqual([]);
  });
});

describe('an aggregation', () => {
  it('gets advice on its first stages', async () => {
    const stages = [
      { $match: { customer_id: HEX } },
      { $match: { status: 'Paid' } },
      { $group: { _id: '$citi' } },
    ];
    const settlement = neither({ customer_id: HEX });
    expect(await advisePipeline({ ...nothing, stages, used: stages, settlement })).toEqual([
      expect.stringMatching(/^pipeline matches nothing as written, nor where it compares customer_id with/),
      expect.stringMatching(/^pipeline: status is never "Paid"/),
      expect.stringMatching(/^pipeline\[2\]: citi is in none .* Did you mean address\.city\?$/),
    ]);
  });

  it('is not called slow when it reads everything on purpose', async () => {
    const stages = [{ $group: { _id: '$status' } }];
    expect(await advisePipeline({ ...found, stages, used: stages })).toEqual([]);
  });

  it('is called slow when it orders everything first', async () => {
    const stages = [{ $sort: { paid: 1 } }, { $limit: 5 }];
    expect(await advisePipeline({ ...found, stages, used: stages })).toEqual([
      expect.stringMatching(/^pipeline\[0\]: no index has this order/),
    ]);
  });
});

describe('notes', () => {
  it('are few and short, whatever is to be said', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string({ maxLength: 2_000, unit: 'binary' }))), (groups) => {
        const notes = arrangeNotes(...groups);
        expect(notes.length).toBeLessThanOrEqual(MOST_NOTES);
        expect(notes.every((note) => note.length <= NOTE_CHARS)).toBe(true);
        expect(new Set(notes).size).toBe(notes.length);
      }),
    );
  });

  it('have at most 600 characters', () => {
    const [whole, long] = ['x'.repeat(NOTE_CHARS), 'y'.repeat(NOTE_CHARS + 1)];
    expect(arrangeNotes([whole, long])).toEqual([whole, `${'y'.repeat(NOTE_CHARS - 1)}…`]);
  });

  it('show how many were left out', () => {
    const notes = arrangeNotes(Array.from({ length: 30 }, (_, index) => `note ${index}`));
    expect(notes.slice(-2)).toEqual(['note 8', '21 more notes were left out.']);
  });
});
