/** Finds on a real server. */
import { Decimal128, Double, Int32, Long, ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import type { FindRequest, QueryResult } from '../../../src/control/ports/index.ts';
import { plainOptions, useTestDatabase } from '../server.ts';

const cities = ['Lisbon', 'lisbon', 'Oslo', 'Quito', 'Riga'];
const people = Array.from({ length: 50 }, (_, index) => ({
  _id: index,
  name: `person ${String(index).padStart(2, '0')}`,
  age: 20 + index,
  address: { city: cities[index % cities.length], zip: String(1000 + index) },
  tags: index % 2 === 0 ? ['even'] : ['odd', 'not even'],
}));
const mixedIds = [3, 1.5, 'b', 'a', new ObjectId(), new Date(0), Long.fromString('9007199254740993')];

const database = useTestDatabase({
  people,
  mixed: mixedIds.map((_id) => ({ _id: _id as unknown as ObjectId })),
  strings: ['c', 'a', 'b', 'e', 'd'].map((_id) => ({ _id: _id as unknown as ObjectId })),
  fat: Array.from({ length: 8 }, (_, index) => ({
    _id: index as unknown as ObjectId,
    text: 'x'.repeat(index === 5 ? 50_000 : 1_000),
  })),
  exact: [
    {
      _id: 1 as unknown as ObjectId,
      int: new Int32(1),
      long: Long.fromString('9007199254740993'),
      small: Long.fromNumber(5),
      double: new Double(1.5),
      decimal: Decimal128.fromString('19.990'),
      when: new Date('2024-02-29T12:00:00.000Z'),
    },
  ],
});

function find(request: Partial<FindRequest>, maxBytes = plainOptions.maxBytes): Promise<QueryResult> {
  const query = database.documents.find({
    database: database.name,
    collection: 'people',
    skip: 0,
    ...request,
  });
  return query.run({ ...plainOptions, maxBytes });
}

async function idsOf(request: Partial<FindRequest>): Promise<unknown[]> {
  return parsed(await find(request)).map(({ _id }) => _id);
}

function parsed({ documents }: QueryResult): Record<string, unknown>[] {
  return documents.map((text) => JSON.parse(text) as Record<string, unknown>);
}

const byId = ['{"field": "_id", "direction": 1}'];
const byIdDown = ['{"field": "_id", "direction": -1}'];

describe('a find', () => {
  it('[DDB-FIND-02] returns all documents without a filter, those that match with one', async () => {
    expect(await idsOf({ sort: byId })).toEqual(people.map(({ _id }) => _id));
    expect(await idsOf({ filter: '{"address.city": "Oslo", "age": {"$lt": 40}}', sort: byId })).toEqual([
      2, 7, 12, 17,
    ]);
  });

  it('[DDB-FIND-07] matches by query operators', async () => {
    expect(await idsOf({ filter: '{"age": {"$gte": 21, "$lte": 22}}', sort: byId })).toEqual([1, 2]);
    expect(await idsOf({ filter: '{"_id": {"$in": [4, 9, 700]}}', sort: byId })).toEqual([4, 9]);
    expect(await idsOf({ filter: '{"name": {"$regex": "^person 0[12]$"}}', sort: byId })).toEqual([1, 2]);
    expect(await idsOf({ filter: '{"$or": [{"_id": 3}, {"age": 69}]}', sort: byId })).toEqual([3, 49]);
  });

  it('[DDB-FIND-08] matches strings only in the case they are written in', async () => {
    const upper = await idsOf({ filter: '{"address.city": "Lisbon"}' });
    const lower = await idsOf({ filter: '{"address.city": "lisbon"}' });
    expect(upper).toHaveLength(10);
    expect(lower).toHaveLength(10);
    expect(upper.filter((id) => lower.includes(id))).toEqual([]);
  });

  it('[WIRE-DB-08] matches values that JSON has no way to write', async () => {
    const when = '{"$date": "2024-02-29T12:00:00Z"}';
    const filters = [
      `{"when": ${when}}`,
      '{"decimal": {"$numberDecimal": "19.99"}}',
      '{"long": 9007199254740993}',
    ];
    for (const filter of filters) {
      expect(await idsOf({ collection: 'exact', filter }), filter).toEqual([1]);
    }
    expect(await idsOf({ collection: 'exact', filter: '{"long": 9007199254740992}' })).toEqual([]);
  });

  it('[DDB-TOOLS-03, WIRE-DB-07] returns relaxed Extended JSON, each document with its _id', async () => {
    const { documents } = await find({ collection: 'exact' });
    expect(documents).toHaveLength(1);
    expect(documents[0]).toContain('"long":{"$numberLong":"9007199254740993"}');
    expect(JSON.parse(documents[0] ?? '')).toEqual({
      _id: 1,
      int: 1,
      long: { $numberLong: '9007199254740993' },
      small: 5,
      double: 1.5,
      decimal: { $numberDecimal: '19.990' },
      when: { $date: '2024-02-29T12:00:00Z' },
    });
  });

  it('[DDB-FIND-03] returns the projected fields, or leaves out the excluded ones', async () => {
    const filter = '{"_id": 1}';
    expect(parsed(await find({ filter, projection: '{"name": 1, "address.city": 1}' }))).toEqual([
      { _id: 1, name: 'person 01', address: { city: 'lisbon' } },
    ]);
    expect(parsed(await find({ filter, projection: '{"name": 1, "_id": 0}' }))).toEqual([
      { name: 'person 01' },
    ]);
    expect(parsed(await find({ filter, projection: '{"address": 0, "tags": false}' }))).toEqual([
      { _id: 1, name: 'person 01', age: 21 },
    ]);
    expect(parsed(await find({ filter, projection: '{}' }))).toEqual([people[1]]);
    expect(parsed(await find({ filter }))).toEqual([people[1]]);
  });

  it('[DDB-FIND-04] returns documents in the order of the criteria', async () => {
    const sort = ['{"field": "address.city", "direction": -1}', '{"field": "age", "direction": 1}'];
    const expected = people
      .toSorted((a, b) => compare(b.address.city, a.address.city) || a.age - b.age)
      .map(({ _id }) => _id);
    expect(await idsOf({ sort })).toEqual(expected);
  });

  it('[DDB-FIND-05, DDB-FIND-06, WIRE-DB-10] returns no more than the limit, after those skipped', async () => {
    expect(await idsOf({ sort: byId, limit: 3 })).toEqual([0, 1, 2]);
    expect(await idsOf({ sort: byId, limit: 3, skip: 48 })).toEqual([48, 49]);
    expect(await idsOf({ sort: byId, skip: 50 })).toEqual([]);
  });

  it('has the default limit without one of its own', async () => {
    const many = Array.from({ length: 1_005 }, (_, index) => ({ _id: index as unknown as ObjectId }));
    await database.client.db(database.name).collection('many').insertMany(many);
    const result = await find({ collection: 'many', sort: byId });
    expect(result.documents).toHaveLength(1_000);
    expect(result.hasMore).toBe(true);
    const largest = await find({ collection: 'many', sort: byId, limit: 10_000 });
    expect([largest.documents.length, largest.hasMore]).toEqual([1_005, false]);
  });
});

describe('the next page', () => {
  it.each([
    ['the people', 'people', byId],
    ['the people, from the last', 'people', byIdDown],
    ['ids that are strings', 'strings', byId],
    ['ids of many kinds', 'mixed', byId],
    ['ids of many kinds, from the last', 'mixed', byIdDown],
  ])('follows by _id, page by page, every document once: %s', async (_, collection, sort) => {
    const whole = await find({ collection, sort });
    const seen: string[] = [];
    let request: Partial<FindRequest> = { collection, sort, limit: 2 };
    for (;;) {
      const page = await find(request);
      seen.push(...page.documents);
      if (!page.hasMore) break;
      if (!page.next) throw new Error('It does not say where it goes on.');
      request =
        'filter' in page.next ? { ...request, filter: page.next.filter } : { ...request, ...page.next };
    }
    expect(seen).toEqual(whole.documents);
    expect(seen.length).toBeGreaterThan(4);
  });

  it('keeps the filter that was asked for, which does not grow', async () => {
    const filter = '{"age": {"$gte": 30}}';
    const first = await find({ filter, sort: byId, limit: 2 });
    expect(first.next).toEqual({ filter: '{"age":{"$gte":30},"_id":{"$gt":11}}' });
    const second = await find({ filter: '{"age":{"$gte":30},"_id":{"$gt":11}}', sort: byId, limit: 2 });
    expect(second.next).toEqual({ filter: '{"age":{"$gte":30},"_id":{"$gt":13}}' });
  });

  it('keeps a filter on _id itself beside its own', async () => {
    const { next } = await find({ filter: '{"_id": {"$lte": 40}}', sort: byId, limit: 2 });
    expect(next).toEqual({ filter: '{"$and":[{"_id":{"$lte":40}},{"_id":{"$gt":1}}]}' });
  });

  it('keeps skipping after a skip, since a filter with the same skip would miss documents', async () => {
    expect((await find({ sort: byId, limit: 2, skip: 4 })).next).toEqual({ skip: 6 });
  });

  it('is reached by a skip where no filter reaches it', async () => {
    const byAge = ['{"field": "age", "direction": 1}'];
    expect((await find({ sort: byAge, limit: 2, skip: 3 })).next).toEqual({ skip: 5 });
    expect((await find({ sort: byId, projection: '{"_id": 0}', limit: 2 })).next).toEqual({ skip: 2 });
    expect((await find({ collection: 'mixed', sort: byId, limit: 2 })).next).toEqual({ skip: 2 });
  });

  it('has a note when nobody asked for an order', async () => {
    const unsorted = await find({ limit: 2 });
    expect(unsorted.notes.join()).toMatch(/order .* not defined.*sort by _id/);
    expect((await find({ limit: 2, sort: byId })).notes).toEqual([]);
    expect((await find({ limit: 50 })).notes).toEqual([]);
  });

  it('is none when that was all, however the limit falls', async () => {
    for (const limit of [50, 51]) {
      const result = await find({ limit, sort: byId });
      expect([result.documents.length, result.hasMore, result.next]).toEqual([50, false, undefined]);
    }
  });
});

describe('the budget of bytes', () => {
  it('ends a page before the document that does not fit', async () => {
    const page = await find({ collection: 'fat', sort: byId }, 4_000);
    expect(page.documents).toHaveLength(3);
    expect(page.hasMore).toBe(true);
    expect(page.next).toEqual({ filter: '{"_id":{"$gt":2}}' });
    expect(page.notes.join()).toMatch(/4000 bytes.*project fewer fields.*save_to_sandbox/);
  });

  it('shows the size of a document that is over it alone, and how to get at it', async () => {
    const page = await find({ collection: 'fat', sort: byId, filter: '{"_id": {"$gt": 4}}' }, 4_000);
    expect(page.documents).toEqual([]);
    expect(page.hasMore).toBe(true);
    expect(page.notes.join()).toMatch(/500\d\d bytes.*over the 4000.*project.*save_to_sandbox.*skip 1 /);
    const projected = await find({ collection: 'fat', sort: byId, projection: '{"text": 0}' }, 4_000);
    expect([projected.documents.length, projected.hasMore]).toEqual([8, false]);
  });
});

function compare(a: string | undefined, b: string | undefined): number {
  return Buffer.compare(Buffer.from(a ?? ''), Buffer.from(b ?? ''));
}
