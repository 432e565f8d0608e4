import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serialize } from '../../../src/documentdb/bson/library.ts';
import { SchemaInference } from '../../../src/documentdb/schema/inference.ts';
import { fieldAt, paths } from '../../../src/model/document-schema.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { bytesOf, documents } from './arbitrary.ts';
import { documentOf, type Element, int32, text } from './bytes.ts';

const COUNTED_NAMES = 10_000;
const NAMES_WITH_ONE_HASH = 16;
const NAME_BYTES = 512;
const DEPTH = 100;

describe('bytes that are no BSON', () => {
  const valid = documents
    .filter((found) => found.length > 0)
    .map((found) => Buffer.concat(found.slice(0, 1).map(bytesOf)));

  it('are refused wherever a document is cut short', () => {
    fc.assert(
      fc.property(valid, fc.nat(), (bytes, cut) => {
        expect(refusalOf(bytes.subarray(0, cut % bytes.length))).toBeInstanceOf(SandhavenError);
      }),
    );
  });

  it('are refused, or read as another document, whichever bytes are changed', () => {
    const change = fc.array(
      fc.tuple(fc.nat(), fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 127, 255))),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    const seen = { refused: 0, read: 0 };
    fc.assert(
      fc.property(valid, change, (bytes, changes) => {
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const refusal = refusalOf(bytes);
        if (refusal === null) seen.read++;
        else seen.refused++;
        if (refusal !== null)
          expect(refusal).toMatchObject({ code: 'unavailable', message: expect.stringContaining('BSON') });
      }),
      { numRuns: 3000 },
    );
    expect(seen.refused).toBeGreaterThan(100);
    expect(seen.read).toBeGreaterThan(100);
  });

  it('are refused when they are anything', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const sized = Buffer.concat([int32(bytes.length + 5), bytes, Buffer.of(0)]);
        const refusal = refusalOf(sized);
        expect(refusal === null || refusal instanceof SandhavenError).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[string, Element]>([
    [
      'a text longer than its document',
      { code: 0x02, name: 'v', value: Buffer.concat([int32(100), Buffer.of(65, 0)]) },
    ],
    [
      'a text of negative length',
      { code: 0x02, name: 'v', value: Buffer.concat([int32(-1), Buffer.of(65, 0)]) },
    ],
    [
      'a text without its end',
      { code: 0x02, name: 'v', value: Buffer.concat([int32(2), Buffer.of(65, 66)]) },
    ],
    [
      'a document shorter than itself',
      { code: 0x03, name: 'v', value: Buffer.concat([int32(0), Buffer.of(0)]) },
    ],
    ['a type that is none', { code: 0x20, name: 'v', value: Buffer.alloc(0) }],
    ['a bool that is neither', { code: 0x08, name: 'v', value: Buffer.of(2) }],
    [
      'binary data of the largest length',
      { code: 0x05, name: 'v', value: Buffer.concat([int32(2 ** 31 - 1), Buffer.of(0)]) },
    ],
    [
      'code that is longer than its scope',
      {
        code: 0x0f,
        name: 'v',
        value: Buffer.concat([int32(30), text('x'), serialize({}), Buffer.alloc(15)]),
      },
    ],
  ])('are refused for %s', (_, element) => {
    expect(refusalOf(documentOf([element]))).toMatchObject({ code: 'unavailable' });
  });
});

describe('documents that are valid and hostile', () => {
  it('may be nested deeper than is looked', () => {
    for (const code of [0x03, 0x04]) {
      let bytes = documentOf([{ code: 0x10, name: '0', value: int32(1) }]);
      for (let i = 0; i < 500; i++) bytes = documentOf([{ code, name: '0', value: bytes }]);
      const inference = new SchemaInference();
      inference.add(bytes);
      expect(paths({ fields: inference.fields() }).length).toBeLessThanOrEqual(DEPTH);
      expect(inference.notes()).toEqual([expect.stringContaining(`more than ${DEPTH} levels deep`)]);
    }
  });

  it('may have a hundred thousand names in one object', () => {
    const elements = Array.from({ length: 100_000 }, (_, i) => ({
      code: 0x0a,
      name: `x${i.toString(36)}`,
      value: Buffer.alloc(0),
    }));
    const inference = new SchemaInference();
    inference.add(documentOf([{ code: 0x03, name: 'v', value: documentOf(elements) }]));
    const schema = { fields: inference.fields() };
    expect(paths(schema)).toEqual(['v', 'v.<key>']);
    expect(fieldAt(schema, 'v.<key>')).toMatchObject({ keys: COUNTED_NAMES });
  });

  it('may have names that share a hash, of which few are distinguished', () => {
    const elements = namesWithOneHash().map((name) => ({ code: 0x0a, name, value: Buffer.alloc(0) }));
    expect(new Set(elements.map(({ name }) => name)).size).toBe(32);
    const inference = new SchemaInference();
    inference.add(documentOf(elements));
    expect(inference.fields()).toHaveLength(NAMES_WITH_ONE_HASH);
    expect(inference.notes()).toHaveLength(1);
  });

  it('may have names of any bytes and lengths', () => {
    const names = [
      Buffer.of(0xff, 0xfe),
      '',
      '.',
      '$where',
      '__proto__',
      'constructor',
      'n'.repeat(NAME_BYTES),
    ];
    const tooLong = 'n'.repeat(NAME_BYTES + 1);
    const inference = new SchemaInference();
    inference.add(
      documentOf([...names, tooLong].map((name) => ({ code: 0x0a, name, value: Buffer.alloc(0) }))),
    );
    const found = paths({ fields: inference.fields() });
    expect(found).toEqual(['\ufffd\ufffd', ...names.slice(1)]);
    expect(inference.notes()).toHaveLength(1);
  });

  it('may have texts that are no UTF-8', () => {
    const inference = new SchemaInference();
    inference.add(documentOf([{ code: 0x02, name: 'v', value: text(Buffer.of(0x61, 0xff, 0x62)) }]));
    expect(inference.fields()[0]?.examples).toEqual(['a\ufffdb']);
  });
});

function refusalOf(bytes: Uint8Array): unknown {
  const inference = new SchemaInference();
  try {
    inference.add(bytes);
    inference.fields();
    return null;
  } catch (error) {
    return error;
  }
}

/** 32 names with one FNV-1a hash: pairs of blocks that lead from one state to the same, one after the other. */
function namesWithOneHash(): string[] {
  let names = [''];
  let state = 0x811c9dc5;
  for (const [one, other] of meetingBlocks) {
    const blocks = [blockOf(one), blockOf(other)];
    names = names.flatMap((name) => blocks.map((block) => name + block));
    const next = blocks.map((block) => fnv(state, block));
    expect(next[0]).toBe(next[1]);
    state = next[0] ?? 0;
  }
  return names;
}

/** The first of each that a search by increasing numbers finds. */
const meetingBlocks: [number, number][] = [
  [877, 51_750],
  [48_354, 51_157],
  [56_885, 98_507],
  [15_547, 62_364],
  [7_600, 45_423],
];

/** In letters alone, so that the name looks like a word and not like data. */
function blockOf(number: number): string {
  return letters(createHash('md5').update(String(number)).digest('hex').slice(0, 16));
}

function fnv(state: number, block: string): number {
  let hash = state;
  for (const byte of Buffer.from(block)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

function letters(hex: string): string {
  return hex.replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
}
