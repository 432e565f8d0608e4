/** Bytes from a server that is broken or hostile: an error or valid JSON, in bounds, and in the end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MalformedBson } from '../../../src/documentdb/bson/bytes.ts';
import { fieldDocument } from '../../../src/documentdb/bson/field.ts';
import { EjsonWriter, toEjson } from '../../../src/documentdb/bson/write/write.ts';
import { SchemaInference } from '../../../src/documentdb/schema/inference.ts';
import { cstring, document, float64, int32, oddDocuments, type RawValue, raw, text } from './generated.ts';

const RESULT_DEPTH = 250;

const damage = fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(0, 0x7f, 0x80, 0xff))), {
  maxLength: 4,
});

describe('bytes that are no BSON', () => {
  it('are an error or JSON, and never what lies beside them', () => {
    let refused = 0;
    fc.assert(
      fc.property(oddDocuments, damage, fc.nat(), (bson, changes, cut) => {
        const bytes = Buffer.from(bson);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const length = cut % 3 === 0 ? cut % (bytes.length + 1) : bytes.length;
        const outcomes = [0x00, 0x41, 0xff].map((around) =>
          outcome(within(bytes.subarray(0, length), around)),
        );
        expect(outcomes[1]).toEqual(outcomes[0]);
        expect(outcomes[2]).toEqual(outcomes[0]);
        if (outcomes[0] instanceof MalformedBson) refused++;
      }),
      { numRuns: 5_000 },
    );
    expect(refused).toBeGreaterThan(500);
  });

  it('are unavailable and not retryable, for the reader and for schema inference', () => {
    const told = {
      code: 'unavailable',
      fields: { retryable: false, hint: expect.stringContaining('filter') },
    };
    const cut = document([]).subarray(0, 4);
    expect(thrownBy(() => toEjson(cut))).toMatchObject(told);
    expect(thrownBy(() => new SchemaInference().add(cut))).toMatchObject(told);
  });

  const wrong: [string, Buffer][] = [
    ['nothing at all', Buffer.alloc(0)],
    ['a length alone', int32(4)],
    ['a length beyond the bytes', damaged(document([]), 0, 6)],
    ['a negative length', damaged(document([]), 3, 0xff)],
    ['bytes behind the document', Buffer.concat([document([]), Buffer.of(0)])],
    ['no terminator', damaged(document([]), 4, 1)],
    ['a key without its end', Buffer.concat([int32(9), Buffer.from([0x0a, 0x61, 0x61, 0x61, 0])])],
    ['a type that there is not', document([['v', raw(0x14)]])],
    ['type 0', document([['v', raw(0x00)]])],
    ['a boolean of 2', document([['v', raw(0x08, [2])]])],
    ['half a double', document([['v', raw(0x01, float64(1).subarray(0, 4))]])],
    ['a string of length 0', document([['v', raw(0x02, int32(0), [0])]])],
    ['a string of negative length', document([['v', raw(0x02, int32(-1), [0, 0])]])],
    ['a string beyond its document', document([['v', raw(0x02, int32(100), [0])]])],
    ['a string without its end', document([['v', raw(0x02, int32(1), [1])]])],
    ['binary data beyond its document', document([['v', raw(0x05, int32(100), [0])]])],
    ['binary data of negative length', document([['v', raw(0x05, int32(-1), [0, 0])]])],
    ['binary data with two lengths', document([['v', raw(0x05, int32(6), [2], int32(1), [1, 2])]])],
    ['a regular expression without options', document([['v', raw(0x0b, cstring('a'), [1])]])],
    ['a document beyond the one around it', document([['v', raw(0x03, int32(100), [0])]])],
    ['a scope that ends before its code does', document([['v', code(1)]])],
    ['a scope that ends behind its code', document([['v', code(-1)]])],
    ['an array whose key has no end', document([['v', raw(0x04, int32(7), [0x0a, 0x30, 0])]])],
  ];

  it.each(wrong)('%s', (_, bytes) => {
    expect(() => toEjson(bytes)).toThrow(MalformedBson);
  });

  it('as deep as the limit is JSON, one level more an error', () => {
    expect(JSON.parse(toEjson(nested(RESULT_DEPTH)))).toBeTypeOf('object');
    expect(() => toEjson(nested(RESULT_DEPTH + 1))).toThrow('too many levels');
    expect(() => toEjson(nested(200_000))).toThrow('too many levels');
  });

  it('leave no trace in the lines, and the writer as it was', () => {
    const writer = new EjsonWriter();
    const good = document([['a', raw(0x0a)]]);
    writer.line(good);
    expect(() =>
      writer.line(
        document([
          ['a', raw(0x02, text('x'))],
          ['v', raw(0x14)],
        ]),
      ),
    ).toThrow(MalformedBson);
    writer.line(good);
    expect(Buffer.from(writer.takeLines()).toString()).toBe('{"a":null}\n{"a":null}\n');
  });

  it('are reported as the server’s fault, with their place', () => {
    expect(() => toEjson(document([['v', raw(0x14)]]))).toThrow(
      'The document database sent a document that is not valid BSON: the unknown type 0x14 at byte 7.',
    );
  });
});

/** What the reader of one field makes of it too, since it walks the same bytes. */
function outcome(bytes: Buffer): unknown {
  try {
    fieldDocument(bytes, 'name');
  } catch (error) {
    if (!(error instanceof MalformedBson)) throw error;
  }
  try {
    const ejson = toEjson(bytes);
    JSON.parse(ejson);
    return ejson;
  } catch (error) {
    if (!(error instanceof MalformedBson)) throw error;
    return error;
  }
}

function within(bytes: Buffer, around: number): Buffer {
  const whole = Buffer.alloc(bytes.length + 128, around);
  bytes.copy(whole, 64);
  return whole.subarray(64, 64 + bytes.length);
}

function damaged(bytes: Buffer, at: number, value: number): Buffer {
  bytes[at] = value;
  return bytes;
}

function code(surplus: number): RawValue {
  const inside = Buffer.concat([text('x'), document([])]);
  return raw(0x0f, int32(4 + inside.length + surplus), inside, Buffer.alloc(Math.max(0, surplus)));
}

function nested(levels: number): Buffer {
  const opening = Buffer.alloc((levels - 1) * 7);
  const size = levels * 5 + (levels - 1) * 3;
  for (let level = 0; level < levels - 1; level++) {
    opening.writeInt32LE(size - level * 8, level * 7);
    opening.set([0x03, 0x61, 0x00], level * 7 + 4);
  }
  return Buffer.concat([opening, int32(5), Buffer.alloc(levels)]);
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
