/** Documents of every type that a driver writes, few names and few values, so that they meet. */

import fc from 'fast-check';
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
} from '../../../src/documentdb/bson/library.ts';

/** A document with its names in order; a plain object would put `0` before `a`. */
export type Fields = Map<string, unknown>;

const name = fc.constantFrom('a', 'b', 'c', 'name', 'a.b', '$z', 'größe', '', 'longer_name', 'long');

const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }).map((value) => new Int32(value)),
  fc.integer().map((value) => new Int32(value)),
  fc.double().map((value) => new Double(value)),
  fc.integer({ min: -5, max: 5 }).map((value) => Long.fromNumber(value)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => Long.fromBigInt(value)),
  fc
    .tuple(fc.integer(), fc.integer({ min: -20, max: 20 }))
    .map(([digits, exponent]) => Decimal128.fromString(`${digits}E${exponent}`)),
  fc.constantFrom('NaN', 'Infinity', '-Infinity').map((value) => Decimal128.fromString(value)),
);

const text = fc.oneof(
  fc.constantFrom('', 'red', 'green', 'blue', 'ünï'),
  fc.string({ unit: 'grapheme', maxLength: 150 }),
);

const date = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(Date.UTC(2100, 0)) }),
);

const other = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  date,
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
  fc
    .tuple(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(0, 5, 128))
    .map(([b, type]) => new Binary(b, type)),
  fc.tuple(fc.constantFrom('^a', 'b+'), fc.constantFrom('', 'i')).map(([p, o]) => new BSONRegExp(p, o)),
  fc.tuple(fc.nat(), fc.nat()).map(([t, i]) => new Timestamp({ t, i })),
  text.map((value) => new BSONSymbol(value)),
  text.map((value) => new Code(value)),
  text.map((value) => new Code(value, { a: 1 })),
  fc.constant(new MinKey()),
  fc.constant(new MaxKey()),
);

const { fields } = fc.letrec<{ fields: Fields; value: unknown; list: unknown[] }>((tie) => ({
  fields: fc.array(fc.tuple(name, tie('value')), { maxLength: 6 }).map((entries) => new Map(entries)),
  list: fc.array(tie('value'), { maxLength: 4 }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    text,
    other,
    tie('fields'),
    tie('list'),
  ),
}));

export const documents: fc.Arbitrary<Fields[]> = fc.array(fields, { maxLength: 12 });

export function bytesOf(document: Fields): Uint8Array {
  return serialize(document);
}
