/** Generated BSON, written here byte by byte: neither the driver's encoder nor ours has a part in it. */
import fc from 'fast-check';

export interface RawValue {
  type: number;
  bytes: Buffer;
}

/** Types that the driver keeps as they are when it reads and writes them again. */
const kept = {
  double: fc.oneof(
    fc.double({ noNaN: true }),
    fc.constantFrom(
      0,
      -0,
      1,
      -1,
      5e-324,
      1e21,
      1e22,
      123456789012345680000,
      0.1,
      19.99,
      -0.05,
      1e-7,
      2 ** 53,
    ),
    fc.integer().map((cents) => cents / 100),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  ),
  string: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\0', '\u001f', 'a', 'é'), maxLength: 200 }),
    fc.string({ minLength: 90, maxLength: 300 }),
  ),
  int: fc.integer(),
  long: fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.bigInt(-(2n ** 32n), 2n ** 32n),
    fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n),
    fc.bigInt(-(2n ** 53n) - 3n, -(2n ** 53n) + 3n),
  ),
  date: fc.oneof(
    fc.bigInt(-8_640_000_000_000_000n, 8_640_000_000_000_000n),
    fc.bigInt(0n, 253_402_300_799_999n),
    fc.constantFrom(
      -1n,
      0n,
      253_402_300_799_999n,
      253_402_300_800_000n,
      951_782_400_000n,
      1_709_164_800_000n,
    ),
  ),
};

const exactValues = fc.oneof<fc.Arbitrary<RawValue>[]>(
  kept.double.map((value) => raw(0x01, float64(value))),
  kept.string.map((value) => raw(0x02, text(value))),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((id) => raw(0x07, id)),
  fc.boolean().map((value) => raw(0x08, [value ? 1 : 0])),
  kept.date.map((value) => raw(0x09, int64(value))),
  fc.constantFrom(0x0a, 0x7f, 0xff).map((type) => raw(type, [])),
  fc
    .tuple(cstrings(), fc.constantFrom('', 'i', 'imsx'))
    .map(([pattern, options]) => raw(0x0b, cstring(pattern), cstring(options))),
  kept.string.map((value) => raw(0x0d, text(value))),
  kept.string.map((value) => raw(0x0e, text(value))),
  kept.int.map((value) => raw(0x10, int32(value))),
  fc
    .tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
    .map(([i, t]) => raw(0x11, int32(i | 0), int32(t | 0))),
  kept.long.map((value) => raw(0x12, int64(value))),
  decimals().map((bytes) => raw(0x13, bytes)),
  binaries(),
);

/** Documents that the driver reads and writes without a loss. */
export const exactDocuments = documents(exactValues, true);

/** All else that a server may hold: types that the driver gives up, and text that is not UTF-8. */
export const oddDocuments = documents(
  fc.oneof(
    exactValues,
    fc.constant(raw(0x06)),
    kept.string.chain((namespace) =>
      fc.uint8Array({ minLength: 12, maxLength: 12 }).map((id) => raw(0x0c, text(namespace), id)),
    ),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => raw(0x02, textOf(Buffer.from(bytes)))),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => raw(0x13, bytes)),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((value) => raw(0x09, int64(value))),
    fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => raw(0x01, bytes)),
  ),
  false,
);

export function raw(type: number, ...parts: (Uint8Array | readonly number[])[]): RawValue {
  return { type, bytes: Buffer.concat(parts.map((part) => Buffer.from(part))) };
}

export function document(fields: readonly (readonly [string, RawValue])[]): Buffer {
  const elements = fields.map(([key, { type, bytes }]) =>
    Buffer.concat([Buffer.of(type), cstring(key), bytes]),
  );
  const size = 5 + elements.reduce((sum, element) => sum + element.length, 0);
  return Buffer.concat([int32(size), ...elements, Buffer.of(0)]);
}

export function text(value: string): Buffer {
  return textOf(Buffer.from(value));
}

export function textOf(utf8: Buffer): Buffer {
  return Buffer.concat([int32(utf8.length + 1), utf8, Buffer.of(0)]);
}

export function cstring(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

export function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

export function float64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

/** Well formed down to the values, nested up to a few levels. */
function documents(values: fc.Arbitrary<RawValue>, exact: boolean): fc.Arbitrary<Buffer> {
  const { root } = fc.letrec<{ root: Buffer; value: RawValue; scope: RawValue }>((tie) => ({
    root: fc
      .uniqueArray(fc.tuple(keys(exact), tie('value')), { selector: ([key]) => key, maxLength: 6 })
      .map(document),
    scope: fc.tuple(kept.string, tie('root')).map(([code, scope]) => {
      const inside = Buffer.concat([text(code), scope]);
      return raw(0x0f, int32(4 + inside.length), inside);
    }),
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 6, arbitrary: values },
      { weight: 1, arbitrary: tie('root').map((bytes) => raw(0x03, bytes)) },
      { weight: 1, arbitrary: tie('scope') },
      {
        weight: 1,
        arbitrary: fc
          .array(tie('value'), { maxLength: 5 })
          .map((items) => raw(0x04, document(items.map((item, index) => [String(index), item])))),
      },
    ),
  }));
  return root;
}

/** Keys of operators and wrappers have a meaning in Extended JSON, and those of indexes lose their order in the driver. */
function keys(exact: boolean): fc.Arbitrary<string> {
  const some = fc.oneof(
    fc.constantFrom('_id', 'name', 'a.b', 'créé', 'tab\t', '__proto__', 'constructor', 'toString', ''),
    cstrings(),
  );
  return exact ? some.filter((key) => key[0] !== '$' && !/^\d+$/.test(key) && key !== '_bsontype') : some;
}

function cstrings(): fc.Arbitrary<string> {
  return fc
    .oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ maxLength: 20 }),
      fc.string({ minLength: 95, maxLength: 130 }),
    )
    .map((value) => value.replaceAll('\0', ''));
}

/** Coefficients of up to 34 digits, and what is no number. */
function decimals(): fc.Arbitrary<Uint8Array> {
  const finite = fc
    .tuple(
      fc.oneof(fc.bigInt(0n, 10n ** 34n - 1n), fc.bigInt(0n, 100_000n)),
      fc.oneof(fc.integer({ min: -6176, max: 6111 }), fc.integer({ min: -12, max: 2 })),
      fc.boolean(),
    )
    .map(([coefficient, exponent, negative]) => {
      const bits = coefficient | (BigInt(exponent + 6176) << 113n) | ((negative ? 1n : 0n) << 127n);
      return Buffer.concat([int64(BigInt.asIntN(64, bits)), int64(BigInt.asIntN(64, bits >> 64n))]);
    });
  const special = fc
    .constantFrom(0x7c, 0x78, 0xf8)
    .map((high) => Buffer.concat([Buffer.alloc(15), Buffer.of(high)]));
  return fc.oneof(finite, special);
}

function binaries(): fc.Arbitrary<RawValue> {
  const data = fc.uint8Array({ maxLength: 50 });
  return fc.oneof(
    // The driver checks the length of 4, a UUID, and the padding of 9, a vector.
    fc
      .tuple(fc.constantFrom(0, 1, 3, 5, 6, 7, 8, 0x80, 0xff), data)
      .map(([subtype, bytes]) => raw(0x05, int32(bytes.length), [subtype], bytes)),
    data.map((bytes) => raw(0x05, int32(bytes.length + 4), [2], int32(bytes.length), bytes)),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => raw(0x05, int32(16), [4], bytes)),
  );
}
