import { createHash } from 'node:crypto';
import type { Document } from 'bson';
import { describe, expect, it } from 'vitest';
import { serialize } from '../../../src/documentdb/bson/library.ts';
import { SchemaInference } from '../../../src/documentdb/schema/inference.ts';
import { fieldAt, paths } from '../../../src/model/document-schema.ts';

const MANY_NAMES = 100;
const MOST_FIELDS = 4_000;

describe('names that are data', () => {
  it.each([
    ['object ids', (i: number) => hash(i).slice(0, 24)],
    ['UUIDs', (i: number) => hash(i).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')],
    ['days', (i: number) => new Date(i * 86_400_000).toISOString().slice(0, 10)],
    ['times', (i: number) => new Date(i * 1000).toISOString()],
    ['quarters', (i: number) => `${2000 + i}-Q1`],
    ['numbers', (i: number) => String(i)],
    ['numbered names', (i: number) => `user_${String(i).padStart(6, '0')}`],
  ])('become one field when they are %s', (_, nameOf) => {
    const documents = Array.from({ length: 40 }, (_, i) => ({ by: { [nameOf(i)]: { count: i } } }));
    const schema = inferred(documents);
    expect(paths(schema)).toEqual(['by', 'by.<key>', 'by.<key>.count']);
    expect(fieldAt(schema, 'by.<key>')).toMatchObject({
      keys: 40,
      probability: 1,
      types: [{ type: 'object', count: 40, probability: 1 }],
    });
    expect(fieldAt(schema, 'by.<key>')?.keyExamples?.[0]).toBe(nameOf(0));
    expect(fieldAt(schema, 'by.<key>.count')).toMatchObject({ probability: 1, min: 0, max: 39 });
  });

  it('become one field when there are hundreds of them, of any form', () => {
    const documents = Array.from({ length: 100 }, (_, i) => ({
      seen: { [word(3 * i)]: 1, [word(3 * i + 1)]: 2 },
    }));
    const schema = inferred(documents);
    expect(paths(schema)).toEqual(['seen', 'seen.<key>']);
    expect(fieldAt(schema, 'seen.<key>')).toMatchObject({
      keys: 200,
      types: [{ type: 'int', count: 200 }],
      min: 1,
      max: 2,
    });
  });

  it('become one field when one document holds a hundred of them', () => {
    const words = (length: number) => Object.fromEntries(Array.from({ length }, (_, i) => [word(i), i]));
    expect(paths(inferred([{ words: words(MANY_NAMES) }]))).toEqual(['words', 'words.<key>']);
    expect(paths(inferred([{ words: words(MANY_NAMES - 1) }]))).toHaveLength(MANY_NAMES);
  });

  it('become one field beside others that are names', () => {
    const documents = Array.from({ length: 30 }, (_, i) => ({ total: i, [`2024-01-${10 + (i % 20)}`]: 'x' }));
    const schema = inferred(documents);
    expect(paths(schema)).toEqual(['total', '<key>']);
    expect(fieldAt(schema, 'total')?.probability).toBe(1);
    expect(fieldAt(schema, '<key>')?.keys).toBe(20);
  });

  it('become one field at any depth, and without bound to their number', () => {
    const documents = Array.from({ length: 1000 }, (_, i) => ({
      a: { [hash(i)]: { b: { [hash(i + 1e6)]: { c: i, [`2024-01-0${1 + (i % 9)}`]: true } } } },
    }));
    const inference = new SchemaInference();
    for (const document of documents) inference.add(serialize(document));
    const schema = { fields: inference.fields() };
    expect(paths(schema)).toEqual([
      'a',
      'a.<key>',
      'a.<key>.b',
      'a.<key>.b.<key>',
      'a.<key>.b.<key>.c',
      'a.<key>.b.<key>.<key>',
    ]);
    expect(fieldAt(schema, 'a.<key>')?.keys).toBe(1000);
    expect(fieldAt(schema, 'a.<key>.b.<key>')).toMatchObject({ keys: 1000, probability: 1 });
    expect(fieldAt(schema, 'a.<key>.b.<key>.c')).toMatchObject({ min: 0, max: 999, probability: 1 });
    expect(inference.notes()).toEqual([]);
  });
});

describe('names that are no data', () => {
  it.each([
    [
      'a few with numbers',
      { address1: 'x', address2: 'x', md5: 'x', line_2: 'x', utf8: 'x', ipv4: 'x', q1: 1, q2: 2 },
    ],
    ['one that is odd', { total: 1, 2024: 5 }],
    ['words of hex letters', { deadbeef: 1, cafe: 2, added: 3, facade: 4 }],
  ])('stay names when they are %s', (_, document) => {
    const found = paths(inferred(Array.from({ length: 5 }, () => document)));
    expect(found.toSorted()).toEqual(Object.keys(document).toSorted());
  });

  it('stay names when a wide collection has columns', () => {
    const document = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [word(i), i]));
    expect(paths(inferred([document, document, document]))).toHaveLength(300);
  });

  it('stay names when optional fields are of several types', () => {
    const documents = Array.from({ length: 150 }, (_, i) => ({
      [word(i)]: [i, 'text', new Date(0), true][i % 4],
    }));
    expect(paths(inferred(documents))).toHaveLength(150);
  });
});

it(`no more than ${MOST_FIELDS} fields are distinguished, and a note shows that`, () => {
  const inference = new SchemaInference();
  const width = 1000;
  for (let i = 0; i < (MOST_FIELDS / width) * 2; i++) {
    const names = Array.from({ length: width }, (_, k) => [word(i * width + k), k % 2 === 0 ? k : 'text']);
    inference.add(serialize(Object.fromEntries(names)));
  }
  expect(paths({ fields: inference.fields() })).toHaveLength(MOST_FIELDS);
  expect(inference.notes()).toEqual([expect.stringContaining(`more than ${MOST_FIELDS} different fields`)]);
});

function inferred(documents: readonly Document[]) {
  const inference = new SchemaInference();
  for (const document of documents) inference.add(serialize(document));
  return { fields: inference.fields() };
}

function hash(i: number): string {
  return createHash('sha256').update(String(i)).digest('hex');
}

/** Letters only. */
function word(i: number): string {
  return `w${[...String(i)].map((digit) => 'ghijklmnop'[Number(digit)]).join('')}`;
}
