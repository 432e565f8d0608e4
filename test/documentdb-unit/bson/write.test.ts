/** Raw BSON to Extended JSON, beside the driver's own. */
import { EJSON } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deserialize, serialize } from '../../../src/documentdb/bson/library.ts';
import { parseEjson } from '../../../src/documentdb/bson/parse/parse.ts';
import { type EjsonMode, EjsonWriter, toEjson } from '../../../src/documentdb/bson/write/write.ts';
import {
  cstring,
  document,
  exactDocuments,
  float64,
  int32,
  int64,
  oddDocuments,
  type RawValue,
  raw,
  text,
  textOf,
} from './generated.ts';

const runs = { numRuns: 1_500 };
const asItIs = { promoteValues: false, bsonRegExp: true } as const;

describe('canonical Extended JSON', () => {
  it('is the driver’s, to the letter [DDB-TOOLS-03]', () => {
    fc.assert(
      fc.property(exactDocuments, (bson) => {
        const driver = EJSON.stringify(deserialize(bson, asItIs), { relaxed: false });
        expect(toEjson(bson, 'canonical')).toBe(driver);
      }),
      runs,
    );
  });

  it('read back and sent is the very same bytes [WIRE-DB-08]', () => {
    fc.assert(
      fc.property(exactDocuments, (bson) => {
        const read = parseEjson(toEjson(bson, 'canonical'), 'filter_dict') as object;
        expect(Buffer.from(serialize(read)).equals(bson)).toBe(true);
      }),
      runs,
    );
  });
});

describe('relaxed Extended JSON', () => {
  it('means what the driver’s means, but for integers that it would round [WIRE-DB-07]', () => {
    fc.assert(
      fc.property(exactDocuments, (bson) => {
        const driver = EJSON.stringify(deserialize(bson, asItIs), { relaxed: true });
        expect(JSON.parse(toEjson(bson), rounded)).toEqual(JSON.parse(driver, rounded));
      }),
      runs,
    );
  });

  it('is JSON whatever the document holds', () => {
    fc.assert(
      fc.property(oddDocuments, (bson) => {
        for (const mode of ['relaxed', 'canonical', 'lossless'] as const) {
          expect(JSON.parse(toEjson(bson, mode))).toBeTypeOf('object');
        }
      }),
      runs,
    );
  });

  /** As the driver does with longs outside of dates, and JSON with −0. */
  function rounded(key: string, value: unknown): unknown {
    if (value === 0) return 0;
    const long = (value as { $numberLong?: string } | null)?.$numberLong;
    return key !== '$date' && typeof long === 'string' ? Number(long) : value;
  }
});

describe('each type', () => {
  const id = Buffer.from('507f1f77bcf86cd799439011', 'hex');
  const oid = '{"$oid":"507f1f77bcf86cd799439011"}';
  const numbers: [string, RawValue, relaxed: string, canonical: string][] = [
    ['int', raw(0x10, int32(-5)), '-5', '{"$numberInt":"-5"}'],
    ['least int', raw(0x10, int32(-(2 ** 31))), '-2147483648', '{"$numberInt":"-2147483648"}'],
    ['long', raw(0x12, int64(5n)), '5', '{"$numberLong":"5"}'],
    [
      'long of milliseconds',
      raw(0x12, int64(1_700_000_000_000n)),
      '1700000000000',
      '{"$numberLong":"1700000000000"}',
    ],
    ['long 2^53', raw(0x12, int64(2n ** 53n)), '9007199254740992', '{"$numberLong":"9007199254740992"}'],
    ['long 2^53 + 1', raw(0x12, int64(2n ** 53n + 1n)), ...both('{"$numberLong":"9007199254740993"}')],
    [
      'long −2^53',
      raw(0x12, int64(-(2n ** 53n))),
      '-9007199254740992',
      '{"$numberLong":"-9007199254740992"}',
    ],
    ['long −2^53 − 1', raw(0x12, int64(-(2n ** 53n) - 1n)), ...both('{"$numberLong":"-9007199254740993"}')],
    ['least long', raw(0x12, int64(-(2n ** 63n))), ...both('{"$numberLong":"-9223372036854775808"}')],
    ['double', raw(0x01, float64(19.99)), '19.99', '{"$numberDouble":"19.99"}'],
    ['whole double', raw(0x01, float64(5)), '5.0', '{"$numberDouble":"5.0"}'],
    [
      'large whole double',
      raw(0x01, float64(1e20)),
      '100000000000000000000.0',
      '{"$numberDouble":"100000000000000000000.0"}',
    ],
    ['double 1e21', raw(0x01, float64(1e21)), '1e+21', '{"$numberDouble":"1e+21"}'],
    ['double −0', raw(0x01, float64(-0)), '-0.0', '{"$numberDouble":"-0.0"}'],
    ['NaN', raw(0x01, float64(Number.NaN)), ...both('{"$numberDouble":"NaN"}')],
    ['−Infinity', raw(0x01, float64(Number.NEGATIVE_INFINITY)), ...both('{"$numberDouble":"-Infinity"}')],
  ];
  const times: [string, RawValue, string, string][] = [
    [
      'date',
      raw(0x09, int64(1_709_164_800_250n)),
      '{"$date":"2024-02-29T00:00:00.250Z"}',
      '{"$date":{"$numberLong":"1709164800250"}}',
    ],
    [
      'date of whole seconds',
      raw(0x09, int64(0n)),
      '{"$date":"1970-01-01T00:00:00Z"}',
      '{"$date":{"$numberLong":"0"}}',
    ],
    ['date before 1970', raw(0x09, int64(-1n)), ...both('{"$date":{"$numberLong":"-1"}}')],
    [
      'last date of 9999',
      raw(0x09, int64(253_402_300_799_999n)),
      '{"$date":"9999-12-31T23:59:59.999Z"}',
      '{"$date":{"$numberLong":"253402300799999"}}',
    ],
    [
      'first date of 10000',
      raw(0x09, int64(253_402_300_800_000n)),
      ...both('{"$date":{"$numberLong":"253402300800000"}}'),
    ],
    [
      'date beyond all of JavaScript’s',
      raw(0x09, int64(2n ** 63n - 1n)),
      ...both('{"$date":{"$numberLong":"9223372036854775807"}}'),
    ],
    ['timestamp', raw(0x11, int32(-1), int32(-2)), ...both('{"$timestamp":{"t":4294967294,"i":4294967295}}')],
  ];
  const others: [string, RawValue, string, string][] = [
    ['string', raw(0x02, text('"é\\\u0000\n😀/\u007f')), ...both('"\\"é\\\\\\u0000\\n😀/\u007f"')],
    ['objectId', raw(0x07, id), ...both(oid)],
    ['null', raw(0x0a), ...both('null')],
    ['true', raw(0x08, [1]), ...both('true')],
    [
      'uuid',
      raw(0x05, int32(16), [4], Buffer.alloc(16, 1)),
      ...both('{"$binary":{"base64":"AQEBAQEBAQEBAQEBAQEBAQ==","subType":"04"}}'),
    ],
    [
      'oldest binary',
      raw(0x05, int32(6), [2], int32(2), [1, 2]),
      ...both('{"$binary":{"base64":"AQI=","subType":"02"}}'),
    ],
    ['uuid of no length', raw(0x05, int32(0), [4]), ...both('{"$binary":{"base64":"","subType":"04"}}')],
    [
      'binary of a vector with no meaning',
      raw(0x05, int32(1), [9], [1]),
      ...both('{"$binary":{"base64":"AQ==","subType":"09"}}'),
    ],
    [
      'regex',
      raw(0x0b, cstring('^a/"'), cstring('im')),
      ...both('{"$regularExpression":{"pattern":"^a/\\"","options":"im"}}'),
    ],
    ['minKey', raw(0xff), ...both('{"$minKey":1}')],
    ['maxKey', raw(0x7f), ...both('{"$maxKey":1}')],
    [
      'decimal',
      raw(0x13, int64(1_250n), int64(BigInt(6176 - 2) << 49n)),
      ...both('{"$numberDecimal":"12.50"}'),
    ],
    ['code', raw(0x0d, text('x')), ...both('{"$code":"x"}')],
    ['symbol', raw(0x0e, text('x')), ...both('{"$symbol":"x"}')],
    // The driver gives these two up: the one becomes null, the other a document.
    ['undefined', raw(0x06), ...both('{"$undefined":true}')],
    ['dbPointer', raw(0x0c, text('db.c'), id), ...both(`{"$dbPointer":{"$ref":"db.c","$id":${oid}}}`)],
  ];

  it.each([...numbers, ...times, ...others])('%s', (_, value, relaxed, canonical) => {
    const bson = document([['v', value]]);
    expect(toEjson(bson)).toBe(`{"v":${relaxed}}`);
    expect(toEjson(bson, 'canonical')).toBe(`{"v":${canonical}}`);
  });

  it('keeps both fields of one name, and keys of indexes where they are', () => {
    const fields = [
      ['b', raw(0x10, int32(1))],
      ['1', raw(0x0a)],
      ['b', raw(0x0a)],
    ] as const;
    expect(toEjson(document(fields))).toBe('{"b":1,"1":null,"b":null}');
  });

  it('has U+FFFD in the place of what is not UTF-8, in values and in keys', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x98]);
    const bson = document([['v', raw(0x02, textOf(bytes))]]);
    expect(toEjson(bson)).toBe(`{"v":${JSON.stringify(new TextDecoder().decode(bytes))}}`);
    const key = document([['vv', raw(0x0a)]]);
    key[5] = 0xff;
    expect(toEjson(key)).toBe('{"\ufffdv":null}');
  });

  function both(ejson: string): [string, string] {
    return [ejson, ejson];
  }
});

describe('one writer for many documents', () => {
  it('gives each as if it were alone, with its size in bytes', () => {
    fc.assert(
      fc.property(
        fc.array(oddDocuments, { minLength: 2, maxLength: 6 }),
        fc.constantFrom<EjsonMode>('relaxed', 'canonical', 'lossless'),
        (documents, mode) => {
          const writer = new EjsonWriter(mode);
          for (const bson of documents) {
            const ejson = writer.text(bson);
            expect(ejson).toBe(toEjson(bson, mode));
            expect(writer.length).toBe(Buffer.byteLength(ejson));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gives lines that stay what they are while it goes on', () => {
    const writer = new EjsonWriter();
    const [one, two] = [document([['a', raw(0x0a)]]), document([['b', raw(0x02, text('é'))]])];
    writer.line(one);
    writer.line(two);
    expect(writer.length).toBe(Buffer.byteLength('{"a":null}\n{"b":"é"}\n'));
    const lines = writer.takeLines();
    expect(writer.length).toBe(0);
    writer.line(two);
    expect(Buffer.from(lines).toString()).toBe('{"a":null}\n{"b":"é"}\n');
    expect(Buffer.from(writer.takeLines()).toString()).toBe('{"b":"é"}\n');
  });

  it('takes a document of 16 MB that is all escapes', () => {
    const bson = document([['v', raw(0x02, text('\u0001'.repeat(16 * 2 ** 20)))]]);
    expect(toEjson(bson)).toHaveLength(6 * 16 * 2 ** 20 + '{"v":""}'.length);
  });
});
