import { type Document, UUID } from 'bson';
import { describe, expect, it } from 'vitest';
import {
  Binary,
  Decimal128,
  Double,
  Int32,
  Long,
  ObjectId,
  serialize,
} from '../../../src/documentdb/bson/library.ts';
import { SchemaInference } from '../../../src/documentdb/schema/inference.ts';
import { fieldAt } from '../../../src/model/document-schema.ts';
import { documentOf, int32, text } from './bytes.ts';

const ENUM_VALUES = 50;
const EXAMPLE_CHARS = 60;

describe('the schema of documents', () => {
  it('[WIRE-DB-05] has no fields without documents', () => {
    const inference = new SchemaInference();
    expect(inference.fields()).toEqual([]);
    expect(inference.sampled).toBe(0);
  });

  it('[WIRE-DB-04, DDB-SCHEMA-02] has path, types with count and probability, probability and examples of a field', () => {
    expect(field('v', [{ v: 'one' }, { v: new Int32(2) }, { v: 'three' }, {}])).toEqual({
      path: 'v',
      types: [
        { type: 'string', count: 2, probability: 0.5 },
        { type: 'int', count: 1, probability: 0.25 },
      ],
      probability: 0.75,
      examples: ['one', 2, 'three'],
      min: 2,
      max: 2,
    });
  });

  it('distinguishes int, long, double and decimal', () => {
    const values = [new Int32(1), Long.fromNumber(1), new Double(1), Decimal128.fromString('1')];
    const types = field(
      'v',
      values.map((v) => ({ v })),
    )?.types.map(({ type }) => type);
    expect(types?.toSorted()).toEqual(['decimal', 'double', 'int', 'long']);
  });

  it('knows the types that no driver writes any more', () => {
    const inference = new SchemaInference();
    inference.add(
      documentOf([
        { code: 0x06, name: 'u', value: Buffer.alloc(0) },
        { code: 0x0c, name: 'p', value: Buffer.concat([text('shop.orders'), Buffer.alloc(12)]) },
      ]),
    );
    expect(inference.fields().map(({ types }) => types[0]?.type)).toEqual(['undefined', 'dbPointer']);
  });

  it('puts the documents of arrays together, and counts the types of elements', () => {
    const documents = [
      { items: [{ sku: 'a', qty: 1 }, { sku: 'b' }] },
      { items: [{ sku: 'c', qty: 1 }, 'gift'] },
      { items: [] },
    ];
    const items = field('items', documents);
    expect(items?.types).toEqual([
      {
        type: 'array',
        count: 3,
        probability: 1,
        elements: [
          { type: 'object', count: 3, probability: 0.75 },
          { type: 'string', count: 1, probability: 0.25 },
        ],
      },
    ]);
    expect(items?.arrayLength).toEqual({ min: 0, max: 2, average: 4 / 3 });
    expect(items?.examples).toEqual(['gift']);
    expect(field('items.sku', documents)?.probability).toBe(1);
    expect(field('items.qty', documents)?.probability).toBeCloseTo(2 / 3);
  });

  it('of two fields of one name in a document counts the first', () => {
    const inference = new SchemaInference();
    inference.add(
      documentOf([
        { code: 0x10, name: 'v', value: int32(1) },
        { code: 0x02, name: 'v', value: text('second') },
      ]),
    );
    expect(inference.fields()).toMatchObject([
      { types: [{ type: 'int', count: 1, probability: 1 }], probability: 1 },
    ]);
  });
});

describe('an enum', () => {
  const colours = ['red', 'red', 'green', 'red', 'green', 'green', 'red'];

  it('is every value with its count, the most frequent first', () => {
    expect(
      field(
        'v',
        [...colours, null].map((v) => ({ v })),
      )?.enum,
    ).toEqual([
      { value: 'red', count: 4 },
      { value: 'green', count: 3 },
    ]);
  });

  it('counts what is in arrays', () => {
    expect(field('v', [{ v: colours }])?.enum).toHaveLength(2);
  });

  it('is none where nearly every document has a value of its own', () => {
    expect(
      field(
        'v',
        ['a', 'b', 'c', 'd', 'a'].map((v) => ({ v })),
      )?.enum,
    ).toBeUndefined();
  });

  it('is none of many values that come seldom', () => {
    const values = Array.from({ length: 60 }, (_, i) => ({ v: `name${i % 20}` }));
    expect(field('v', values)?.enum).toBeUndefined();
    expect(field('v', Array.from({ length: 10 }, () => values).flat())?.enum).toHaveLength(20);
  });

  it(`is none of more than ${ENUM_VALUES} values, however often they come`, () => {
    const times = (different: number) =>
      Array.from({ length: different * 20 }, (_, i) => ({ v: new Int32(i % different) }));
    expect(field('v', times(ENUM_VALUES))?.enum).toHaveLength(ENUM_VALUES);
    expect(field('v', times(ENUM_VALUES + 1))?.enum).toBeUndefined();
  });

  it('is none where there are values of types that have none', () => {
    expect(
      field(
        'v',
        [...colours, new Date()].map((v) => ({ v })),
      )?.enum,
    ).toBeUndefined();
  });

  it('takes an int and a long of one value for one', () => {
    const values = [new Int32(7), Long.fromNumber(7), new Int32(7)];
    expect(
      field(
        'v',
        values.map((v) => ({ v })),
      )?.enum,
    ).toEqual([{ value: 7, count: 3 }]);
  });
});

describe('bounds', () => {
  it('are exact beyond 2^53', () => {
    const values = ['9007199254740993', '-9223372036854775808', '9223372036854775807'].map((text) =>
      Long.fromString(text),
    );
    expect(
      field(
        'v',
        values.map((v) => ({ v })),
      ),
    ).toMatchObject({
      min: { $numberLong: '-9223372036854775808' },
      max: { $numberLong: '9223372036854775807' },
    });
  });

  it('of decimals keep their digits', () => {
    const values = ['0.10', '19.99', '7'].map((text) => ({ v: Decimal128.fromString(text) }));
    expect(field('v', values)).toMatchObject({
      min: { $numberDecimal: '0.10' },
      max: { $numberDecimal: '19.99' },
    });
  });

  it('of dates are dates', () => {
    const values = ['2024-05-01T10:00:00Z', '2023-01-01T00:00:00.500Z'].map((text) => ({
      v: new Date(text),
    }));
    expect(field('v', values)).toMatchObject({
      min: { $date: '2023-01-01T00:00:00.500Z' },
      max: { $date: '2024-05-01T10:00:00Z' },
    });
  });
});

describe('examples', () => {
  it('are cut, with an ellipsis, between characters', () => {
    const long = '😀'.repeat(300);
    const [example] = field('v', [{ v: long }])?.examples ?? [];
    expect(example).toBe(`${'😀'.repeat(EXAMPLE_CHARS - 1)}…`);
  });

  it('are compact whatever the type', () => {
    const values = [
      new ObjectId('65f0a1b2c3d4e5f601234567'),
      new UUID('0b2a4c6e-8d0f-4a2c-8e6f-0123456789ab'),
      new Binary(Buffer.alloc(5_000_000), 0),
      /x{9}/i,
    ];
    const examples = values.map((v) => field('v', [{ v }])?.examples[0]);
    expect(examples).toEqual([
      { $oid: '65f0a1b2c3d4e5f601234567' },
      { $binary: { base64: 'CypMbo0PSiyObwEjRWeJqw==', subType: '04' } },
      { $binary: { base64: `${'A'.repeat(EXAMPLE_CHARS - 1)}…`, subType: '00' } },
      { $regularExpression: { pattern: 'x{9}', options: 'i' } },
    ]);
  });
});

function field(path: string, documents: readonly Document[]) {
  const inference = new SchemaInference();
  for (const document of documents) inference.add(serialize(document));
  return fieldAt({ fields: inference.fields() }, path);
}
