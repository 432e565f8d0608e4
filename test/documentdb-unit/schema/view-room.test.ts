/** The view of a collection's schema in its bounds: the marks it has, the fields that it leaves out, and its bytes. */
import { describe, expect, it } from 'vitest';
import { presentSchema } from '../../../src/catalog/documentdb/schema-view.ts';
import type { CollectionSchema, FieldSchema, IndexInfo } from '../../../src/model/document-schema.ts';

describe('the view of a schema', () => {
  it('[WIRE-DB-03] [WIRE-DB-05] of an empty collection has no fields, and only the keys that say something', () => {
    expect(presentSchema(schemaOf())).toStrictEqual({
      database_name: 'shop',
      collection_name: 'orders',
      sampled: 1,
      sample_method: 'all',
      document_count: 1,
      fields: [],
      indexes: [],
    });
  });

  it('shows of an index the properties that it has', () => {
    const plain: IndexInfo = { name: 'a_1', key: { a: 1 }, unique: false };
    const special: IndexInfo = {
      ...{ name: 'b_1', key: { b: 1 }, unique: true },
      ...{ sparse: true, expireAfterSeconds: 60, partial: true },
    };
    expect(presentSchema(schemaOf({ indexes: [plain, special] })).indexes).toStrictEqual([
      { name: 'a_1', key: { a: 1 }, unique: false },
      {
        ...{ name: 'b_1', key: { b: 1 }, unique: true },
        ...{ sparse: true, expire_after_seconds: 60, partial: true },
      },
    ]);
  });

  it('shows a validator of at most 1,024 bytes, and of a longer one that it is there', () => {
    const shown = { a: 'x'.repeat(1_016) };
    expect(presentSchema(schemaOf({ validator: shown })).validator).toEqual(shown);
    expect(presentSchema(schemaOf({ validator: { a: 'x'.repeat(1_017) } })).validator).toBe(true);
  });

  it('gives fields only to a field that has some', () => {
    const [outer] = presentSchema(schemaOf({ fields: [{ ...field('a'), fields: [field('a.b')] }] })).fields;
    expect(outer?.fields).toMatchObject([{ path: 'a.b' }]);
    expect(outer?.fields?.[0]).not.toHaveProperty('fields');
  });
});

describe('fields beyond the 400 that are shown', () => {
  it('are the rarest of one depth, wherever they stand', () => {
    const fields = [{ ...field('rare'), probability: 0.5 }, ...many(400)];
    const view = presentSchema(schemaOf({ fields }));
    expect(view.fields.map(({ path }) => path)).toEqual(many(400).map(({ path }) => path));
    expect(view.notes).toEqual(['1 more fields are left out: the deepest and the rarest.']);
  });

  it('are the deepest, however frequent', () => {
    const rare = many(400).map((one) => ({ ...one, probability: 0.5 }));
    const [first, ...others] = rare;
    const view = presentSchema(
      schemaOf({ fields: [{ ...(first as FieldSchema), fields: [field('f100.deep')] }, ...others] }),
    );
    expect(view.fields).toHaveLength(400);
    expect(view.fields[0]).not.toHaveProperty('fields');
  });
});

/**
 * A view has 8,192 bytes, or 136 for each field where these are more. Its notes are within them: those that are known,
 * and 110 bytes for each that it may add. The list of the known ones, `{"notes":[]}`, has 12 bytes when it is empty.
 */
describe('details', () => {
  it.each([
    ['8,070 bytes of a few fields', 10, [], 8_192 - 12 - 110],
    ['8,070 bytes of 60 fields', 60, [], 8_192 - 12 - 110],
    ['8,064 bytes beside a note of 4 letters', 60, ['note'], 8_192 - 18 - 110],
    ['13,478 bytes of 100 fields', 100, [], 13_600 - 12 - 110],
    ['54,168 bytes of 400 fields where more are left out', 401, [], 54_400 - 12 - 220],
  ])('are all shown in %s, and not in one byte more', (_title, count, notes, most) => {
    const fields = many(count).map((one) => ({ ...one, patterns: ['9 kg'] }));
    const schema = schemaOf({ fields, notes });
    const full = padded(schema, most);
    const complete = presentSchema(full);
    expect(sizeOf(complete)).toBe(most);
    expect(complete.fields.filter(({ patterns }) => !patterns)).toEqual([]);

    const cut = presentSchema(padded(schema, most + 1));
    expect(cut.fields.filter(({ patterns }) => !patterns)).toHaveLength(1);
    expect(cut.notes?.at(-1)).toBe(
      'To stay short, 1 fields show fewer values or bounds than are known, or no examples.',
    );
  });
});

function schemaOf(known: Partial<CollectionSchema> = {}): CollectionSchema {
  return {
    name: { database: 'shop', collection: 'orders' },
    type: 'collection',
    sampled: 1,
    sampleMethod: 'all',
    documentCount: 1,
    fields: [],
    indexes: [],
    notes: [],
    ...known,
  };
}

function field(path: string): FieldSchema {
  return { path, types: [{ type: 'string', count: 1, probability: 1 }], probability: 1, examples: [] };
}

/** Fields of one depth: f100, f101 … */
function many(count: number): FieldSchema[] {
  return Array.from({ length: count }, (_, i) => field(`f${i + 100}`));
}

/** A schema whose view, with all of its details, has so many bytes without notes: the name of an index fills it. */
function padded(schema: CollectionSchema, bytes: number): CollectionSchema {
  const named = (name: string): CollectionSchema => ({
    ...schema,
    indexes: [{ name, key: { a: 1 }, unique: false }],
  });
  return named('x'.repeat(bytes - sizeOf(presentSchema(named('')))));
}

function sizeOf({ notes: _notes, ...view }: ReturnType<typeof presentSchema>): number {
  return Buffer.byteLength(JSON.stringify(view));
}
