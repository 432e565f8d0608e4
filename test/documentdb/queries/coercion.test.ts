/** A filter means what it says, and what its strings may mean is tried only where that finds nothing: by a real server. */
import { Decimal128, type Document, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CollectionSchema } from '../../../src/model/document-schema.ts';
import { plainOptions, useTestDatabase } from '../server.ts';

const ada = new ObjectId();
const bob = new ObjectId();
const legacy = new ObjectId();

/** Dates from the 1st of January on, and one string that looks like a date; numbers as text and as such. */
const content: Document[] = [
  ...Array.from({ length: 40 }, (_, index) => ({
    _id: index,
    customer_id: ada,
    joined_at: new Date(Date.UTC(2023, 0, 1 + index, 12)),
    legacy_id: index % 2 ? legacy : legacy.toHexString(),
    total: Decimal128.fromString(`${index}.10`),
    weight: index,
    items: [{ product_id: bob, sku: `s${index}` }],
    days: [new Date(Date.UTC(2024, 0, 1 + index)), 'n/a'],
  })),
  { _id: 40, customer_id: 'guest', joined_at: '2023-07-02', weight: '9.9 kg', code: '4711' },
  { _id: 41, customer_id: 'guest', joined_at: '2023-09-30', weight: '12 kg', code: '4712' },
];

const { name: database, documents, client } = useTestDatabase({ members: content as never[] });
const name = { database, collection: 'members' };
const members = client.db(database).collection('members');
let whole: CollectionSchema;

beforeAll(async () => {
  whole = await documents.schema(name, 1_000);
});

interface Asked {
  schema?: CollectionSchema | null;
  skip?: number;
  limit?: number;
  sort?: string[];
}

async function find(filter: Document, { schema = whole, ...asked }: Asked = {}) {
  const query = documents.find({ ...name, filter: JSON.stringify(filter), skip: 0, ...asked });
  const result = await query.run({ ...plainOptions, schemaOf: () => schema });
  return { ...result, ids: result.documents.map((text) => JSON.parse(text)._id as number) };
}

async function count(filter: Document, schema: CollectionSchema | null = whole) {
  return await documents.count({ ...name, filter: JSON.stringify(filter) }).run({ schemaOf: () => schema });
}

async function aggregate(stages: Document[], schema: CollectionSchema | null = whole) {
  const query = documents.aggregate({ ...name, pipeline: stages.map((stage) => JSON.stringify(stage)) });
  const { documents: texts, notes } = await query.run({ ...plainOptions, schemaOf: () => schema });
  return { result: texts.map((text) => JSON.parse(text)), notes };
}

async function saved(filter: Document, asked: Asked = {}) {
  const query = documents.find({ ...name, filter: JSON.stringify(filter), skip: 0, ...asked });
  const exported = await query.export({ schemaOf: () => whole });
  const chunks: Uint8Array[] = [];
  for await (const chunk of exported.lines) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1);
  return { lines: lines.map((line) => JSON.parse(line)), exported };
}

const asWritten = /^filter_dict matches nothing as written\. This result also compares /;
const range = (size: number, from = 0) => Array.from({ length: size }, (_, index) => from + index);
const byId = ['{"field": "_id", "direction": 1}'];

describe('[WIRE-DB-18] a filter that finds something as written', () => {
  it.each<[string, Document, number[]]>([
    ['a string that looks like a date', { joined_at: '2023-07-02' }, [40]],
    ['a range of such strings', { joined_at: { $gte: '2023-07-02' } }, [40, 41]],
    ['a string that looks like a number', { code: '4711' }, [40]],
    [
      'an id as a string, where others are ids',
      { legacy_id: legacy.toHexString() },
      range(20).map((n) => 2 * n),
    ],
    ['either of two', { $or: [{ code: '4711' }, { joined_at: { $lt: '2023-07-01' } }] }, [40]],
  ])('gives just that: %s', async (_, filter, ids) => {
    expect((await find(filter, { sort: byId })).ids).toEqual(ids);
    expect((await count(filter)).count).toBe(ids.length);
    expect((await aggregate([{ $match: filter }, { $count: 'n' }])).result).toEqual([{ n: ids.length }]);
    expect((await saved(filter)).exported.count).toBe(ids.length);
  });

  it('runs as written when a negation in it excludes nothing, with a note that its type cannot match', async () => {
    const filter = { customer_id: { $ne: ada.toHexString() } };
    const { count: n, notes } = await count(filter, { ...whole, fields: onlyIds() });
    expect(n).toBe(42);
    expect(notes[0]).toMatch(
      /customer_id is compared with the string .* but holds objectId.* Write \{"\$oid"/,
    );
  });

  it('is not read otherwise where only its page is empty: past the end, and at the last limit', async () => {
    for (const skip of [1, 2, 1_000]) {
      const { ids, notes, hasMore } = await find({ code: '4711' }, { skip, sort: byId });
      expect([ids, notes, hasMore]).toEqual([[], [], false]);
    }
    expect((await saved({ code: '4711' }, { skip: 5 })).exported).toMatchObject({ count: 0, notes: [] });
    const stages = [{ $match: { code: '4711' } }, { $sort: { _id: 1 } }, { $skip: 5 }];
    const { result, notes } = await aggregate(stages);
    expect(result).toEqual([]);
    expect(notes).toEqual(['pipeline[0] matches documents; none is left by pipeline[2] ($skip).']);
  });

  it('is not read otherwise where a later stage lets nothing through', async () => {
    const stages = [{ $match: { joined_at: { $gte: '2023-07-02' } } }, { $match: { weight: 'none' } }];
    expect((await aggregate(stages)).result).toEqual([]);
    const grouped = [
      { $match: { joined_at: { $gte: '2023-07-02' } } },
      { $group: { _id: '$customer_id', n: { $sum: 1 } } },
      { $match: { n: { $gt: 5 } } },
    ];
    expect((await aggregate(grouped)).result).toEqual([]);
  });
});

/** As a sample would have it that met none of the strings. */
function onlyIds(): CollectionSchema['fields'] {
  return whole.fields.map((field) => ({
    ...field,
    types: field.types.filter(({ type }) => type !== 'string'),
  }));
}

describe('[WIRE-DB-19] a filter that finds nothing as written', () => {
  it.each<[string, Document, number]>([
    ['an id', { customer_id: ada.toHexString() }, 40],
    ['ids in a list', { customer_id: { $in: [ada.toHexString(), bob.toHexString()] } }, 40],
    ['an id among documents', { items: { $elemMatch: { product_id: bob.toHexString(), sku: 's3' } } }, 1],
    ['an instant with an offset', { joined_at: '2023-01-01T14:00:00+02:00' }, 1],
    ['a range of dates', { joined_at: { $gte: '2023-01-01', $lt: '2023-01-11' } }, 10],
    ['a range in a list', { days: { $elemMatch: { $gte: '2024-02-01', $lt: '2024-02-03' } } }, 2],
    ['a number', { weight: '7' }, 1],
    ['a decimal', { total: '7.10' }, 1],
    ['a range of numbers', { total: { $gt: '37' } }, 3],
    ['all of a list', { days: { $all: ['2024-01-05', 'n/a'] } }, 1],
    [
      'one that excludes too',
      { joined_at: { $lt: '2023-01-11' }, customer_id: { $ne: ada.toHexString() } },
      0,
    ],
  ])('is tried with the meaning of its strings, and the result shows that: %s', async (_, filter, n) => {
    expect(await members.countDocuments(filter)).toBe(0);
    const found = await find(filter);
    expect(found.ids).toHaveLength(n);
    expect((await count(filter)).count).toBe(n);
    const { result, notes } = await aggregate([{ $match: filter }]);
    expect(result).toHaveLength(n);
    const { exported, lines } = await saved(filter);
    expect(lines).toHaveLength(n);
    if (n === 0) return;
    expect(found.notes[0]).toMatch(asWritten);
    expect(exported.notes[0]).toMatch(asWritten);
    expect((await count(filter)).notes[0]).toMatch(asWritten);
    expect(notes[0]).toMatch(/^pipeline\[0\] matches nothing as written\. This result also compares /);
  });

  it('has its pages: skipped, limited, and continued by the filter that found them', async () => {
    const filter = { customer_id: ada.toHexString() };
    const first = await find(filter, { sort: byId, limit: 15 });
    expect([first.ids, first.hasMore]).toEqual([range(15), true]);
    const next = first.next as { filter: string };
    const second = await find(JSON.parse(next.filter), { sort: byId, limit: 15 });
    expect([second.ids, second.hasMore]).toEqual([range(15, 15), true]);
    expect(second.notes).toEqual([]);
    const skipped = await find(filter, { sort: byId, skip: 35, limit: 15 });
    expect([skipped.ids, skipped.hasMore]).toEqual([range(5, 35), false]);
    expect(skipped.notes[0]).toMatch(asWritten);
    expect((await find(filter, { sort: byId, skip: 50 })).ids).toEqual([]);
  });

  it('is tried without a schema as well', async () => {
    const { ids, notes } = await find({ customer_id: ada.toHexString() }, { schema: null });
    expect(ids).toHaveLength(40);
    expect(notes).toEqual([expect.stringMatching(asWritten)]);
  });

  it('of a pipeline is tried one $match at a time, each on what the others let through', async () => {
    const matches = [
      { $match: { joined_at: { $gte: '2023-01-05', $lt: '2023-01-09' } } },
      { $unwind: '$items' },
      { $match: { 'items.product_id': bob.toHexString() } },
      { $group: { _id: '$customer_id', n: { $sum: 1 } } },
      { $match: { n: { $gte: '4' } } },
    ];
    // The strings beyond the 5th of January are none below the 9th, so that the first finds nothing as written.
    const { result, notes } = await aggregate(matches);
    expect(result).toEqual([{ _id: { $oid: ada.toHexString() }, n: 4 }]);
    expect(notes.map((note) => note.slice(0, 11))).toEqual(['pipeline[0]', 'pipeline[2]', 'pipeline[4]']);
  });

  it('is tried before stages that give documents where none came', async () => {
    const facet = { $facet: { n: [{ $count: 'n' }] } };
    const meant = await aggregate([{ $match: { customer_id: ada.toHexString() } }, facet]);
    expect(meant.result).toEqual([{ n: [{ n: 40 }] }]);
    expect(meant.notes[0]).toMatch(/^pipeline\[0\] matches nothing as written/);
    const written = await aggregate([{ $match: { legacy_id: legacy.toHexString() } }, facet]);
    expect(written.result).toEqual([{ n: [{ n: 20 }] }]);
    expect(written.notes).toEqual([]);
  });

  it('is explained as it was meant when it finds nothing coerced either', async () => {
    const { ids, notes } = await find({ total: { $gt: '1000' } });
    expect(ids).toEqual([]);
    expect(notes).toEqual([
      'filter_dict matches nothing as written, nor where it compares total with 1000.',
      'filter_dict: total goes from {"$numberDecimal":"0.10"} to {"$numberDecimal":"39.10"}; $gt 1000 is outside.',
    ]);
  });
});

describe('a date compared with a string in $expr', () => {
  it('runs as written, which orders by type, and has a note on that', async () => {
    const sampled = { ...whole, fields: onlyIds() };
    const { count: n, notes } = await count({ $expr: { $gte: ['$joined_at', '2030-01-01'] } }, sampled);
    expect(n).toBe(40);
    expect(notes[0]).toBe(
      'filter_dict: $gte compares joined_at with the string "2030-01-01", but it holds date; expressions order values ' +
        'of different types by their types. Write {"$date":"2030-01-01T00:00:00Z"}.',
    );
  });
});

describe('[WIRE-DB-20] no answer depends on a sample', () => {
  /** Of the first documents, of the last ones, of none, of other documents altogether; and a server's own draws. */
  async function samples(): Promise<(CollectionSchema | null)[]> {
    const drawn = await Promise.all([1, 3, 10].map((size) => documents.schema(name, size)));
    const onlyStrings = whole.fields.map((field) => ({
      ...field,
      types: [{ type: 'string', count: 5, probability: 1 }],
      examples: ['2023-07-02'],
    }));
    const reversed = { ...whole, sampled: 2, sampleMethod: 'random' as const, fields: onlyStrings };
    return [whole, ...drawn, { ...whole, fields: onlyIds() }, reversed, { ...whole, fields: [] }, null];
  }

  const filters: Document[] = [
    { joined_at: '2023-07-02' },
    { joined_at: { $gte: '2023-07-02' } },
    { joined_at: { $gte: '2023-01-10' } },
    { joined_at: { $lt: '2023-01-10' } },
    { joined_at: { $ne: '2023-07-02' } },
    { joined_at: { $not: { $gte: '2023-01-10' } } },
    { customer_id: ada.toHexString() },
    { customer_id: { $nin: [ada.toHexString()] } },
    { legacy_id: legacy.toHexString() },
    { legacy_id: { $ne: legacy.toHexString() } },
    { weight: '7' },
    { weight: { $gt: '20' } },
    { total: '7.10', joined_at: { $lt: '2023-02-01' } },
    { $or: [{ code: '1' }, { customer_id: ada.toHexString() }] },
    { $expr: { $gte: ['$joined_at', '2023-07-02'] } },
  ];

  it('a filter finds the same with any schema', async () => {
    const all = await samples();
    for (const filter of filters) {
      const answers = await Promise.all(
        all.map(async (schema) => {
          const { count: n } = await count(filter, schema);
          const { ids } = await find(filter, { schema, sort: byId });
          const { result } = await aggregate([{ $match: filter }, { $sort: { _id: 1 } }], schema);
          return { n, ids, piped: result.map(({ _id }) => _id) };
        }),
      );
      const [first] = answers;
      expect(first?.ids).toEqual(first?.piped);
      expect(first?.ids).toHaveLength(first?.n ?? -1);
      for (const answer of answers) expect(answer, JSON.stringify(filter)).toEqual(first);
      const literally = await members.countDocuments(filter);
      if (literally > 0) expect(first?.n, JSON.stringify(filter)).toBe(literally);
    }
  }, 60_000);
});
