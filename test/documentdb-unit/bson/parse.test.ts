/** What callers write as JSON and Extended JSON, read exactly. */
import { EJSON } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Double, deserialize, Long, ObjectId, serialize } from '../../../src/documentdb/bson/library.ts';
import { formatEjson, parseEjson } from '../../../src/documentdb/bson/parse/parse.ts';
import { toEjson } from '../../../src/documentdb/bson/write/write.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { exactDocuments } from './generated.ts';

const asItIs = { promoteValues: false, bsonRegExp: true } as const;

describe('JSON text', () => {
  it('is read as the platform reads it, but for numbers [DDB-TOOLS-02]', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        const plain = JSON.parse(text);
        fc.pre(onlyPlainKeys(plain));
        expect(numbered(parseEjson(text, 'filter_dict'))).toEqual(numbered(plain));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is refused wherever the platform refuses it', () => {
    let refused = 0;
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '"b"',
        '1',
        '-',
        '.5',
        '0',
        'e',
        'true',
        'null',
        '\\',
        '\\u12',
        ' ',
        '\n',
        '\ufeff',
        '\u00a0',
        "'",
        '//',
      ],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 9 }), (parts) => {
        const text = parts.join('');
        const reads = (read: () => unknown) => {
          try {
            read();
            return true;
          } catch (error) {
            expect(error instanceof SyntaxError || error instanceof SandhavenError).toBe(true);
            return false;
          }
        };
        const platform = reads(() => JSON.parse(text));
        if (!platform) refused++;
        // Numbers beyond all doubles are refused here alone, and keys that are there twice.
        if (/e\d{3}/.test(text)) return;
        if (platform && /"a".*:.*"a".*:|"b".*:.*"b".*:|"".*:.*"".*:/s.test(text)) return;
        expect(reads(() => parseEjson(text, 'filter_dict'))).toBe(platform);
      }),
      { numRuns: 20_000 },
    );
    expect(refused).toBeGreaterThan(1_000);
  });

  it('keeps __proto__ and constructor as keys, and every prototype as it is', () => {
    const read = parseEjson('{"__proto__": {"a": 1}, "constructor": {"prototype": 1}}', 'filter_dict');
    expect(Object.keys(read as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(({} as { a?: unknown }).a).toBeUndefined();
    expect(toEjson(serialize(read as object))).toBe('{"__proto__":{"a":1},"constructor":{"prototype":1}}');
  });

  it('keeps the order of keys that look like indexes', () => {
    const text = '{"b":1,"10":-1,"2":1,"a":{"z":1,"0":2}}';
    const read = parseEjson(text, 'pipeline[0]') as Record<string, unknown>;
    expect(Object.keys(read)).toEqual(['b', '10', '2', 'a']);
    expect(toEjson(serialize(read))).toBe(text);
    expect({ ...read }).toEqual({ b: 1, '10': -1, '2': 1, a: { z: 1, '0': 2 } });
  });

  function onlyPlainKeys(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(
      ([key, inner]) => key[0] !== '$' && !key.includes('\0') && onlyPlainKeys(inner),
    );
  }

  function numbered(value: unknown): unknown {
    if (value instanceof Double) return value.value;
    if (Long.isLong(value)) return value.toNumber();
    if (Array.isArray(value)) return value.map(numbered);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([key, inner]) => [key, numbered(inner)]);
    return Object.fromEntries(fields);
  }
});

describe('numbers', () => {
  it.each([
    ['0', 0],
    ['-2147483648', -2147483648],
    ['2147483647', 2147483647],
    ['2147483648', Long.fromNumber(2147483648)],
    ['9007199254740993', Long.fromString('9007199254740993')],
    ['9223372036854775807', Long.MAX_VALUE],
    ['-9223372036854775808', Long.MIN_VALUE],
    ['9223372036854775808', new Double(2 ** 63)],
    ['123456789012345678901234567890', new Double(Number('123456789012345678901234567890'))],
    ['5.0', new Double(5)],
    ['5e0', new Double(5)],
    ['-0', new Double(-0)],
    ['5.5', 5.5],
    ['1e-7', 1e-7],
  ])('%s', (source, value) => {
    const read = parseEjson(source, 'filter_dict');
    expect(read).toEqual(value);
    expect(Object.is(Number(read), Number(value))).toBe(true);
  });
});

describe('Extended JSON', () => {
  it('canonical and relaxed, is what the driver reads of it [WIRE-DB-08]', () => {
    fc.assert(
      fc.property(exactDocuments, (bson) => {
        const canonical = EJSON.stringify(deserialize(bson, asItIs), { relaxed: false });
        const driver = serialize(EJSON.parse(canonical, { relaxed: false }) as object);
        fc.pre(Buffer.from(driver).equals(bson));
        expect(Buffer.from(serialize(parseEjson(canonical, 'filter_dict') as object)).equals(driver)).toBe(
          true,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('formatted and read again is the same value', () => {
    fc.assert(
      fc.property(exactDocuments, (bson) => {
        const value = deserialize(bson, asItIs);
        const once = parseEjson(formatEjson(value), 'filter_dict');
        expect(Buffer.from(serialize(once as object)).equals(Buffer.from(serialize(value)))).toBe(true);
        expect(parseEjson(formatEjson(once), 'filter_dict')).toEqual(once);
      }),
      { numRuns: 1_000 },
    );
  });

  const id = '507f1f77bcf86cd799439011';
  it.each([
    ['{"$date": "2024-01-31"}', '{"$date":"2024-01-31T00:00:00Z"}'],
    ['{"$date": "2024-01-31T12:00:00"}', '{"$date":"2024-01-31T12:00:00Z"}'],
    ['{"$date": "2024-01-31 12:00"}', '{"$date":"2024-01-31T12:00:00Z"}'],
    ['{"$date": "2024-01-31T12:00:00.5+02:30"}', '{"$date":"2024-01-31T09:30:00.500Z"}'],
    ['{"$date": "2024-02-29T24:00:00.123456789-0100"}', null],
    ['{"$date": "2024-02-29T23:59:60Z"}', null],
    ['{"$date": "2024-02-29T24:00:00Z"}', '{"$date":"2024-03-01T00:00:00Z"}'],
    ['{"$date": "0001-01-01"}', '{"$date":{"$numberLong":"-62135596800000"}}'],
    ['{"$date": 1704067200000}', '{"$date":"2024-01-01T00:00:00Z"}'],
    ['{"$date": {"$numberLong": "-1"}}', '{"$date":{"$numberLong":"-1"}}'],
    ['{"$numberLong": 5}', '{"$numberLong":"5"}'],
    ['{"$numberInt": "5"}', '5'],
    ['{"$numberDouble": "5"}', '5.0'],
    ['{"$numberDouble": "-Infinity"}', '{"$numberDouble":"-Infinity"}'],
    [
      '{"$uuid": "123e4567-e89b-12d3-a456-426614174000"}',
      '{"$binary":{"base64":"Ej5FZ+ibEtOkVkJmFBdAAA==","subType":"04"}}',
    ],
    ['{"$binary": "AQI=", "$type": "80"}', '{"$binary":{"base64":"AQI=","subType":"80"}}'],
    ['{"$timestamp": {"i": 1, "t": 4294967295}}', '{"$timestamp":{"t":4294967295,"i":1}}'],
    [`{"$in": [{"$oid": "${id.toUpperCase()}"}]}`, `{"$in":[{"$oid":"${id}"}]}`],
  ])('%s', (text, meant) => {
    if (meant === null) expect(() => parseEjson(text, 'filter_dict')).toThrow(SandhavenError);
    else expect(formatEjson(parseEjson(text, 'filter_dict'))).toBe(meant);
  });

  it('leaves operators that look like wrappers what they are', () => {
    for (const operator of [
      { $regex: '^a', $options: 'i' },
      { $type: 'string' },
      { $type: ['int', 'long'] },
      { $ref: 'orders', $id: 1 },
      { $scope: 1 },
      { $dateToString: { date: '$at', format: '%Y' } },
      { $oids: 'x' },
    ]) {
      expect(parseEjson(JSON.stringify({ f: operator }), 'filter_dict')).toEqual({ f: operator });
    }
  });

  it('gives the driver’s own types', () => {
    const read = parseEjson(`{"_id": {"$oid": "${id}"}}`, 'filter_dict') as { _id: unknown };
    expect(read._id).toBeInstanceOf(ObjectId);
  });

  it.each([
    ['{"a": {"$oid": "xyz"}}', 'filter_dict.a.$oid cannot be "xyz".'],
    ['{"a": [1, {"$oid": 5}]}', 'filter_dict.a[1].$oid cannot be 5.'],
    [`{"a": {"$oid": "${id}", "b": 1}}`, 'filter_dict.a has "b" beside $oid.'],
    ['{"$date": "2023-02-29"}', 'filter_dict.$date is no time in ISO 8601: "2023-02-29".'],
    ['{"$date": "yesterday"}', 'filter_dict.$date is no time in ISO 8601: "yesterday".'],
    [
      '{"$date": {"$numberLong": "9223372036854775807"}}',
      'filter_dict.$date is beyond the times that can be sent',
    ],
    ['{"$date": 1.5}', 'filter_dict.$date cannot be 1.5.'],
    ['{"$numberLong": "9223372036854775808"}', 'filter_dict.$numberLong cannot be "9223372036854775808".'],
    ['{"$numberLong": "5.0"}', 'filter_dict.$numberLong cannot be "5.0".'],
    ['{"$numberInt": "2147483648"}', 'filter_dict.$numberInt cannot be "2147483648".'],
    ['{"$numberDouble": "five"}', 'filter_dict.$numberDouble cannot be "five".'],
    ['{"$numberDecimal": "1.2.3"}', 'filter_dict.$numberDecimal cannot be "1.2.3".'],
    ['{"$numberDecimal": 1.5}', 'filter_dict.$numberDecimal cannot be 1.5.'],
    ['{"$uuid": "123"}', 'filter_dict.$uuid cannot be "123".'],
    ['{"$binary": {"base64": "A!==", "subType": "00"}}', 'filter_dict.$binary cannot be this object.'],
    ['{"$binary": {"base64": "AA=="}}', 'filter_dict.$binary cannot be this object.'],
    ['{"$timestamp": {"t": 4294967296, "i": 1}}', 'filter_dict.$timestamp cannot be this object.'],
    ['{"$timestamp": [1, 1]}', 'filter_dict.$timestamp cannot be an array.'],
    [
      '{"$regularExpression": {"pattern": "a\\u0000", "options": ""}}',
      'filter_dict.$regularExpression.pattern holds a NUL.',
    ],
    [
      '{"$regularExpression": {"pattern": "a", "options": "g"}}',
      'filter_dict.$regularExpression cannot be this object.',
    ],
    ['{"$minKey": 2}', 'filter_dict.$minKey cannot be 2.'],
    ['{"$code": "x", "$scope": 1}', 'filter_dict.$code cannot be "x".'],
    ['{"a": {"$undefined": true}}', 'filter_dict.a.$undefined is a type that cannot be sent.'],
    ['{"$dbPointer": {}}', 'filter_dict.$dbPointer is a type that cannot be sent.'],
  ])('is refused with its place when it is wrong: %s', (text, detail) => {
    const error = failureOf(text);
    expect(error.message).toContain(detail);
    expect(error).toMatchObject({ code: 'invalid_argument', fields: { parameter: 'filter_dict' } });
  });
});

function failureOf(text: string): SandhavenError {
  try {
    parseEjson(text, 'filter_dict');
  } catch (error) {
    if (error instanceof SandhavenError) return error;
    throw error;
  }
  throw new Error('It was taken.');
}
