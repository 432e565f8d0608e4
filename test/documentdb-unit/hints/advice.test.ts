/** What is said of a query as a whole: little, in order, and nothing when all is well. */
import { ObjectId } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adviseAfter, notesOf, prepareAggregate, prepareFind } from '../../../src/documentdb/hints/advice.ts';
import { arrangeNotes } from '../../../src/documentdb/hints/notes.ts';
import type { Probe } from '../../../src/documentdb/hints/probe.ts';
import { limits } from '../../../src/model/limits.ts';
import { ordersSchema } from './orders.ts';

const schema = ordersSchema();
const HEX = '64f0c0ffee64f0c0ffee64f0';
const probe: Probe = async () => null;

describe('a find', () => {
  it('that is well made is sent as it is, without a word', async () => {
    const filter = { customer_id: new ObjectId(HEX) };
    const prepared = prepareFind({ filter, projection: { status: 1 }, sort: ['_id'], schema });
    expect(prepared.filter).toBe(filter);
    expect(await adviseAfter({ prepared, empty: false, schema, probe })).toEqual([]);
  });

  it('gets what was changed first, then why it is empty, then what is doubtful and slow', async () => {
    const filter = { customer_id: { $ne: HEX }, status: 'Paid', stauts: { $exists: false } };
    const prepared = prepareFind({ filter, sort: ['_id'], schema });
    expect(prepared.filter['customer_id']).toEqual({ $ne: new ObjectId(HEX) });
    expect(await adviseAfter({ prepared, empty: true, schema, probe })).toEqual([
      expect.stringContaining('was used'),
      expect.stringContaining('status is never "Paid"'),
      expect.stringContaining('Did you mean'),
      expect.stringContaining('no index narrows it'),
    ]);
  });

  it('is told each thing once', async () => {
    const prepared = prepareFind({
      filter: { quantity: '5', nmae: 1 },
      schema: ordersSchema({ documentCount: 5 }),
    });
    const notes = await adviseAfter({ prepared, empty: true, schema, probe });
    expect(notes).toEqual([expect.stringContaining('quantity'), expect.stringContaining('nmae')]);
    expect(notesOf(prepared.advice)).toEqual(notes);
  });

  it('of a collection that is not known is left alone', async () => {
    const filter = { customer_id: HEX };
    const prepared = prepareFind({ filter, schema: null });
    expect(prepared.filter).toBe(filter);
    expect(await adviseAfter({ prepared, empty: true, schema: null, probe })).toEqual([]);
  });
});

describe('an aggregation', () => {
  it('gets advice on its first stages', async () => {
    const stages = [
      { $match: { customer_id: HEX } },
      { $match: { status: 'Paid' } },
      { $group: { _id: '$citi' } },
    ];
    const prepared = prepareAggregate(stages, schema);
    expect(prepared.stages[0]).toEqual({ $match: { customer_id: new ObjectId(HEX) } });
    expect(await adviseAfter({ prepared, empty: true, schema, probe })).toEqual([
      expect.stringMatching(/^pipeline\[0\]: customer_id was given as a string/),
      expect.stringMatching(/^pipeline: status is never "Paid"/),
      expect.stringMatching(/^pipeline\[2\]: citi is in none .* Did you mean address\.city\?$/),
    ]);
  });

  it('that reads everything on purpose is not called slow', () => {
    const prepared = prepareAggregate([{ $group: { _id: '$status' } }], schema);
    expect(notesOf(prepared.advice)).toEqual([]);
  });

  it('that orders everything first is', () => {
    const prepared = prepareAggregate([{ $sort: { paid: 1 } }, { $limit: 5 }], schema);
    expect(notesOf(prepared.advice)).toEqual([
      expect.stringMatching(/^pipeline\[0\]: no index has this order/),
    ]);
  });
});

describe('notes', () => {
  it('are few and short, whatever is to be said', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string({ maxLength: 2_000, unit: 'binary' }))), (groups) => {
        const notes = arrangeNotes(...groups);
        expect(notes.length).toBeLessThanOrEqual(limits.documents.notes);
        expect(notes.every((note) => note.length <= limits.documents.noteChars)).toBe(true);
        expect(new Set(notes).size).toBe(notes.length);
      }),
    );
  });

  it('tell how many were left out', () => {
    const notes = arrangeNotes(Array.from({ length: 30 }, (_, index) => `note ${index}`));
    expect(notes.slice(-2)).toEqual(['note 8', '21 more notes were left out.']);
  });
});
