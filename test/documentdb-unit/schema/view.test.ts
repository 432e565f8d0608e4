import { describe, expect, it } from 'vitest';
import { presentSchema } from '../../../src/catalog/documentdb/schema-view.ts';
import { Double, serialize } from '../../../src/documentdb/bson/library.ts';
import { SchemaInference } from '../../../src/documentdb/schema/inference.ts';
import { type CollectionSchema, fieldAt, type IndexInfo, paths } from '../../../src/model/document-schema.ts';
import { shopOrder } from './shop-order.ts';

const SHOWN_BYTES = 8 * 1024;
const SHOWN_FIELDS = 400;

const indexes: IndexInfo[] = [
  { name: '_id_', key: { _id: 1 }, unique: true },
  { name: 'customer_1_created_at_-1', key: { 'customer.id': 1, created_at: -1 }, unique: false },
  { name: 'status_1', key: { status: 1 }, unique: false },
  { name: 'number_1', key: { number: 1 }, unique: true },
  { name: 'expires_at_1', key: { expires_at: 1 }, unique: false, sparse: true, expireAfterSeconds: 3600 },
];

describe('the schema of a realistic collection of 60 fields', () => {
  const schema = schemaOf(
    Array.from({ length: 1000 }, (_, i) => shopOrder(i)),
    { indexes },
  );
  const view = presentSchema(schema);
  const shown = flat(view.fields);

  it('fits 8 KB, indexes included', () => {
    expect(paths(schema)).toHaveLength(60);
    const bytes = Buffer.byteLength(JSON.stringify(view));
    console.log(`60 fields: ${bytes} bytes`);
    expect(bytes).toBeLessThanOrEqual(SHOWN_BYTES);
  });

  it('[WIRE-DB-03] shows the sample, the fields and the indexes', () => {
    expect(view).toMatchObject({
      database_name: 'shop',
      collection_name: 'orders',
      sampled: 1000,
      sample_method: 'random',
      document_count: 100_000,
    });
    expect(view.indexes).toContainEqual({ name: 'status_1', key: { status: 1 }, unique: false });
    expect(view.indexes).toContainEqual({
      name: 'expires_at_1',
      key: { expires_at: 1 },
      unique: false,
      sparse: true,
      expire_after_seconds: 3600,
    });
  });

  it('[WIRE-DB-04] shows path, types, probability and examples of every field', () => {
    expect(shown.map(({ path }) => path)).toEqual(paths(schema));
    for (const field of shown) {
      const known = fieldAt(schema, field.path);
      expect(field.types.map(({ type, count }) => [type, count])).toEqual(
        known?.types.map(({ type, count }) => [type, count]),
      );
      expect(field.probability).toBeCloseTo(known?.probability ?? -1, 2);
      for (const example of field.examples) expect(known?.examples).toContainEqual(example);
    }
  });

  it('keeps every short enum, and shows the form of the values of many other fields', () => {
    const known = shown.map((field) => ({ field, all: fieldAt(schema, field.path) }));
    const enums = known.filter(
      ({ all }) => all?.enum && typeof all.enum[0]?.value === 'string' && all.enum.length <= 6,
    );
    expect(enums.length).toBeGreaterThan(7);
    for (const { field, all } of enums)
      expect(field.enum, field.path).toEqual(all?.enum?.map(({ value }) => value));
    const others = known.filter(
      ({ all }) => !all?.enum && (all?.min !== undefined || typeof all?.examples[0] === 'string'),
    );
    const telling = others.filter(({ field }) => field.min !== undefined || field.examples.length > 0);
    expect(telling.length).toBeGreaterThan(others.length / 4);
    expect(view).toMatchObject({ notes: [expect.stringContaining('fewer values or bounds')] });
  });
});

describe('the schema of a flat collection of 60 fields', () => {
  const documents = Array.from({ length: 1000 }, (_, i) =>
    Object.fromEntries(Array.from({ length: 59 }, (_, k) => [`field_${letters(k)}`, flatValue(i, k)])),
  );
  const schema = schemaOf(
    documents.map((document, i) => ({ _id: i, ...document })),
    { indexes: indexes.slice(0, 2) },
  );
  const view = presentSchema(schema);

  it('fits 8 KB, and every field shows the form of its values', () => {
    expect(view.fields).toHaveLength(60);
    expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThanOrEqual(SHOWN_BYTES);
    const silent = view.fields.filter(
      ({ examples, enum: values, min, types }) =>
        examples.length === 0 && !values && min === undefined && types[0]?.type !== 'bool',
    );
    expect(silent).toEqual([]);
  });

  function flatValue(i: number, k: number): unknown {
    const values = [
      i * k,
      new Double(i / 8),
      i % 2 === 0,
      `text ${i} ${k}`,
      ['new', 'open', 'done'][i % 3],
      new Date(i * k * 1e7),
    ];
    return values[k % values.length];
  }
});

describe('strings beside other types', () => {
  const weights = (i: number) => (i % 3 === 0 ? `${i}.${i % 7} kg` : i % 3 === 1 ? i / 8 : `${i} kg`);
  const schema = schemaOf(
    Array.from({ length: 600 }, (_, i) => ({
      _id: i,
      weight: weights(i),
      owner: i % 2 === 0 ? i : `Person${letters(i)} ${letters(i + 1)}`,
      word: `word ${i}`,
      values: [i, `n-${i}`],
    })),
  );

  it('show their patterns, digits and rare words made alike', () => {
    expect(fieldAt(schema, 'weight')?.patterns).toEqual(['9.9 kg', '9 kg']);
    expect(fieldAt(schema, 'values')?.patterns).toEqual(['n-9']);
    expect(presentSchema(schema).fields.find(({ path }) => path === 'weight')).toMatchObject({
      patterns: ['9.9 kg', '9 kg'],
      min: 0.125,
    });
  });

  it('show no words when each has words of its own', () => {
    expect(fieldAt(schema, 'owner')?.patterns).toEqual(['a a']);
  });

  it('are not looked at where a field has strings alone', () => {
    expect(fieldAt(schema, 'word')?.patterns).toBeUndefined();
  });
});

describe('the schema of a collection', () => {
  it('spells the types in arrays of arrays', () => {
    const view = presentSchema(schemaOf([{ grid: [[1.5, 2.5], ['x']] }]));
    expect(view.fields[0]?.types[0]?.elements).toEqual({ array: 2, 'array.double': 2, 'array.string': 1 });
  });

  it('is complete when it has few fields', () => {
    const documents = Array.from({ length: 100 }, (_, i) => ({
      state: i % 3 === 0 ? 'open' : 'done',
      note: `n ${i}`,
      list: [i],
    }));
    const view = presentSchema(schemaOf(documents));
    expect(view.fields).toMatchObject([
      { path: 'state', examples: [], enum: ['done', 'open'], enum_counts: [66, 34] },
      { path: 'note', examples: ['n 0', 'n 1', 'n 2'] },
      {
        path: 'list',
        types: [{ type: 'array', count: 100, probability: 1, elements: { int: 100 } }],
        array_length: { min: 1, max: 1, average: 1 },
        min: 0,
        max: 99,
      },
    ]);
    expect(view).not.toHaveProperty('notes');
  });

  it('has three digits of a probability, and never rounds to never or to always', () => {
    const documents = Array.from({ length: 5000 }, (_, i) => ({
      ...(i > 0 ? { usual: 1 } : { odd: 1 }),
      ...(i % 3 ? { third: 1 } : {}),
    }));
    const byPath = new Map(
      flat(presentSchema(schemaOf(documents)).fields).map((field) => [field.path, field.probability]),
    );
    expect(Object.fromEntries(byPath)).toEqual({ usual: 0.999, odd: 0.001, third: 0.667 });
  });

  it('shows every unusual property', () => {
    const view = presentSchema(
      schemaOf([], {
        type: 'timeseries',
        validator: { $jsonSchema: { required: ['at'] } },
        timeseries: { timeField: 'at', metaField: 'sensor' },
        capped: true,
      }),
    );
    expect(view).toMatchObject({
      type: 'timeseries',
      validator: { $jsonSchema: { required: ['at'] } },
      timeseries: { time_field: 'at', meta_field: 'sensor' },
      capped: true,
      fields: [],
    });
    expect(presentSchema(schemaOf([], { type: 'view', viewOn: 'orders' }))).toMatchObject({
      type: 'view',
      view_on: 'orders',
    });
    expect(presentSchema(schemaOf([], { validator: { long: 'x'.repeat(5000) } }))).toMatchObject({
      validator: true,
    });
  });

  it('shows the least deep of very many fields, counts the rest, and stays readable', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `column_${letters(i)}`,
        { a: 'text', b: 1, c: true, d: 'x', e: null },
      ]),
    );
    const schema = schemaOf([wide], { notes: ['a note before'] });
    const view = presentSchema(schema);
    expect(paths(schema)).toHaveLength(600);
    expect(flat(view.fields)).toHaveLength(SHOWN_FIELDS);
    expect(view.fields).toHaveLength(100);
    expect(view.notes?.[0]).toBe('a note before');
    expect(view.notes?.[1]).toContain('200 more fields');
    expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThan(SHOWN_FIELDS * 150);
  });

  it('has a note when there was no room for all that is known', () => {
    const columns = Array.from({ length: 120 }, (_, i) => `column_${letters(i)}`);
    const documents = Array.from({ length: 50 }, (_, k) =>
      Object.fromEntries(columns.map((column) => [column, `${letters(k % 5)} `.repeat(30)])),
    );
    const view = presentSchema(schemaOf(documents));
    expect(view.notes).toEqual([
      expect.stringMatching(/ \d+ fields show fewer values or bounds than are known/),
    ]);
  });
});

function schemaOf(documents: readonly object[], rest: Partial<CollectionSchema> = {}): CollectionSchema {
  const inference = new SchemaInference();
  for (const document of documents) inference.add(serialize(document));
  return {
    name: { database: 'shop', collection: 'orders' },
    type: 'collection',
    sampled: inference.sampled,
    sampleMethod: 'random',
    documentCount: 100_000,
    fields: inference.fields(),
    indexes: [],
    notes: inference.notes(),
    ...rest,
  };
}

type View = ReturnType<typeof presentSchema>['fields'][number];

function flat(fields: readonly View[]): View[] {
  return fields.flatMap((field) => [field, ...flat(field.fields ?? [])]);
}

function letters(i: number): string {
  return [...String(i)].map((digit) => 'ghijklmnop'[Number(digit)]).join('');
}
