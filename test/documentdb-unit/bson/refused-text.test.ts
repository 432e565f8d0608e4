/** Text that is not taken: the error names the parameter and the place, and the hint the right spelling. */
import { describe, expect, it } from 'vitest';
import { parseEjson } from '../../../src/documentdb/bson/parse/parse.ts';
import { SandhavenError } from '../../../src/model/errors.ts';

const TEXT_BYTES = 1024 * 1024;
const DEPTH = 100;

describe('text that is not JSON', () => {
  it.each([
    [
      "{'a': 1}",
      "' is no quote of JSON at line 1, column 2: {>>>'a': 1}",
      'Strings and keys take double quotes: "a".',
    ],
    ['{"a": “x”}', '“ is no quote of JSON at line 1, column 7', '"x"'],
    ['{status: "x"}', 'a key has no quotes at line 1, column 2', 'Keys take double quotes: "status".'],
    ['{$gt: 1}', 'a key has no quotes', '"$gt"'],
    [
      '{"a": active}',
      'active is no value of JSON at line 1, column 7',
      'Strings take double quotes: "active".',
    ],
    [
      '{"a": 1,}',
      '} is where a key should be at line 1, column 9: {"a": 1,>>>}',
      'no comma behind the last element',
    ],
    ['[1,]', '] is where a value should be', 'no comma behind the last element'],
    ['{"a":}', '} is where a value should be', 'Remove }, or add what is missing'],
    ['{"a": 1 "b": 2}', 'a comma or } is missing at line 1, column 9', 'Put a comma between'],
    ['{"a" 1}', 'a colon is missing', '"status": "active"'],
    ['{"a": [1}', '} is where only ] closes', 'closed by ]'],
    ['{"a":\n  {"b": 1', 'the text ends before { of line 2, column 3 is closed', 'close with }'],
    ['{} {}', 'more follows behind the end at line 1, column 4', 'Give one JSON value'],
    ['{"a": "x', 'a string is not closed that begins at line 1, column 7', 'double quote'],
    ['{"a": "x\ny"}', 'a control character is in a string at line 1, column 9', 'written \\n'],
    ['{"a": "\\d+"}', '\\d is no escape of JSON', 'written twice in JSON: \\\\d'],
    ['{"a": "\\u12"}', '\\u is no escape of JSON', 'four hexadecimal digits'],
    ['{"a": 05}', 'a number has a form that JSON has not', 'Write 5:'],
    ['{"a": .5}', 'a number has a form that JSON has not', 'Write 0.5:'],
    ['{"a": +5}', 'a number has a form that JSON has not', 'Write 5:'],
    ['{"a": 0x1F}', 'a number has a form that JSON has not', 'Write 31:'],
    ['{"a": 1_000}', 'a number has a form that JSON has not', 'Write 1000:'],
    ['{"a": 5n}', 'a number has a form that JSON has not', 'Write 5:'],
    ['{"a": 1 // one\n}', 'a comment is there', 'no comments'],
    ['{ # one\n}', 'a comment is there', 'no comments'],
    ['{"a": /^ab\\d/i}', 'a regular expression is there', '{"$regex": "^ab\\\\d", "$options": "i"}'],
    ['{"a": None}', 'None is no value of JSON', 'null'],
    ['{"a": True}', 'True is no value of JSON', 'true'],
    ['{"a": undefined}', 'undefined is no value of JSON', '{"$exists": false}'],
    ['{"a": NaN}', 'NaN is no value of JSON', '{"$numberDouble": "NaN"}'],
    ['{"a": -Infinity}', 'a number has a form', '{"$numberDouble": "-Infinity"}'],
    [
      '{"a": ObjectId("507f1f77bcf86cd799439011")}',
      'ObjectId(…) is no JSON',
      '{"$oid": "507f1f77bcf86cd799439011"}',
    ],
    ["{'a': 1}".replace(/'/g, '`'), '` is no quote of JSON', '"a"'],
    ['{"a": ISODate("2024-05-01T00:00:00Z")}', 'ISODate(…) is no JSON', '{"$date": "2024-05-01T00:00:00Z"}'],
    ['{"a": new Date("2024-05-01")}', 'Date(…) is no JSON', '{"$date": "2024-05-01"}'],
    ['{"a": datetime.datetime(2024, 1, 1)}', 'datetime.datetime(…) is no JSON', '{"$date": "'],
    ['{"a": NumberLong("12")}', 'NumberLong(…) is no JSON', '{"$numberLong": "12"}'],
    ['{"a": Decimal128("1.5")}', 'Decimal128(…) is no JSON', '{"$numberDecimal": "1.5"}'],
    ['{"a": re.compile("^a")}', 're.compile(…) is no JSON', '{"$regex": "^a"}'],
    ['{"a": constructor("x")}', 'constructor(…) is no JSON', 'Extended JSON'],
    ['{"a": toString}', 'toString is no value of JSON', '"toString"'],
  ])('%s', (text, detail, hint) => {
    const error = failureOf(text);
    expect(error.message).toMatch(/^filter_dict is not valid JSON: /);
    expect(error.message).toContain(detail);
    expect(error.fields.hint).toContain(hint);
    expect(error.fields.parameter).toBe('filter_dict');
    expect(error.code).toBe('invalid_argument');
  });

  it.each(['', ' \n\t'])('is empty: %j', (text) => {
    expect(failureOf(text).message).toBe('filter_dict is empty.');
  });

  it('is shown no more of than what is around the place, on one line', () => {
    const { message } = failureOf(`{"a": "${'x'.repeat(10_000)}",\n\n\u0085 'b': "${'y'.repeat(10_000)}"}`);
    expect(message.length).toBeLessThan(200);
    expect(message).not.toMatch(/\p{Cc}/u);
  });
});

describe('JSON that would be read as another query', () => {
  it.each([
    ['{"a": {"$gt": 1, "$gt": 2}}', 'filter_dict.a has the key "$gt" a second time at line 1, column 18'],
    ['{"a": 1, "\\u0061": 2}', 'filter_dict has the key "a" a second time'],
    ['{"__proto__": 1, "__proto__": 2}', 'filter_dict has the key "__proto__" a second time'],
    ['{"a": ["x", "\\ud800"]}', 'filter_dict.a[1] holds half of a surrogate pair'],
    ['{"a": "\\udc00\\ud800"}', 'filter_dict.a holds half of a surrogate pair'],
    ['{"a": {"\\ud800": 1}}', 'filter_dict.a has a key with half of a surrogate pair'],
    ['{"a": {"b\\u0000": 1}}', 'filter_dict.a has a key with a NUL'],
    ['{"a": {"_bsontype": "Code"}}', 'filter_dict.a has the key _bsontype'],
    ['{"a": 1e400}', 'filter_dict.a is beyond what a number can be'],
  ])('%s', (text, detail) => {
    const error = failureOf(text);
    expect(error.message).toContain(detail);
    expect(error.code).toBe('invalid_argument');
  });

  it('includes neither a NUL in a string nor a whole surrogate pair', () => {
    expect(parseEjson('["a\\u0000b", "\\ud83d\\ude00"]', 'x')).toEqual(['a\0b', '😀']);
  });
});

describe('bounds', () => {
  it('of work: no text of full size takes more than its length', () => {
    const size = TEXT_BYTES - 64;
    const hostile = [
      `{"$binary": {"base64": "${'='.repeat(size)}x", "subType": "00"}}`,
      `{"$date": "2024-01-01T00:00:00${' '.repeat(size)}x"}`,
      `{"$numberDouble": "${'1'.repeat(size)}x"}`,
      `{"$numberDecimal": "${'1'.repeat(size)}"}`,
      `${' '.repeat(size)}}`,
      '1'.repeat(size),
      `"${'x'.repeat(size)}`,
      `'${'x'.repeat(size)}`,
      `/${'\\'.repeat(size)}`,
      `{"${'k'.repeat(size)}": None}`,
    ];
    for (const text of hostile) expect(failureOf(text).code).toBe('invalid_argument');
  });

  it('of levels: as many as there may be are taken, one more is not', () => {
    expect(parseEjson('['.repeat(DEPTH) + ']'.repeat(DEPTH), 'x')).toHaveLength(1);
    expect(failureOf('['.repeat(DEPTH + 1)).message).toContain(`nested more than ${DEPTH} levels deep`);
    expect(failureOf('{"a":'.repeat(500_000 / 5)).message.length).toBeLessThan(300);
  });

  it('of bytes: as many as there may be are taken, one more is not', () => {
    const text = `"${'é'.repeat((TEXT_BYTES - 2) / 2)}"`;
    expect(parseEjson(text, 'x')).toHaveLength((TEXT_BYTES - 2) / 2);
    expect(failureOf(`${text} `)).toMatchObject({ code: 'too_large', fields: { parameter: 'filter_dict' } });
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
