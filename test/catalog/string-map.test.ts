/** Labels and environment variables: bounds of keys, values and number, on both sides. */
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { environment, labels } from '../../src/catalog/parameters/scalars.ts';

/** Paths and messages of the faults; none for a value that passes. */
function faults(schema: z.ZodType, value: unknown): [string, string][] {
  const { success, error } = schema.safeParse(value);
  return success ? [] : error.issues.map(({ path, message }) => [path.join('.'), message]);
}

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, '']));

describe('labels', () => {
  const keyFault = 'has a key that is not 1 to 128 characters without control characters';

  it.each([
    ['an empty key', { '': 'x' }, ''],
    ['a key of 129 characters', { ['k'.repeat(129)]: 'x' }, 'k'.repeat(129)],
    ['a control character in a key', { 'a\u0007b': 'x' }, 'a\u0007b'],
    ['DEL in a key', { 'a\u007f': 'x' }, 'a\u007f'],
  ])('refuse %s', (_, value, key) => {
    expect(faults(labels(), value)).toEqual([[key, keyFault]]);
  });

  it('take keys of 1 and of 128 characters, and values of 512', () => {
    expect(faults(labels(), { k: '', ['k'.repeat(128)]: 'v'.repeat(512) })).toEqual([]);
  });

  it('refuse a value of 513 characters, and name its key', () => {
    expect(faults(labels(), { a: 'v'.repeat(513), b: 'v' })).toEqual([
      ['a', 'must be at most 512 characters'],
    ]);
  });

  it('refuse a lone surrogate in a key or a value', () => {
    expect(faults(labels(), { a: '\ud800' })).toEqual([['a', 'must be valid Unicode']]);
    expect(faults(labels(), { '\ud800': 'a' })).toEqual([['\ud800', 'must be valid Unicode']]);
  });

  it('are 64 at most; of more, nothing else is examined', () => {
    expect(faults(labels(), many(64))).toEqual([]);
    expect(faults(labels(), { ...many(64), '': '' })).toEqual([['', 'must have at most 64 keys; it has 65']]);
  });
});

describe('environment variables', () => {
  const keyFault = 'has a key that is not [A-Za-z_][A-Za-z0-9_]* of at most 256 characters';

  it.each(['', '1A', 'A-B', 'A=B', 'k'.repeat(257)])('refuse the key %j', (key) => {
    expect(faults(environment(), { [key]: 'x' })).toEqual([[key, keyFault]]);
  });

  it('take a key of 256 characters', () => {
    expect(faults(environment(), { ['_'.repeat(256)]: 'x' })).toEqual([]);
  });

  it('take a value of 65,536 bytes, and refuse one more', () => {
    expect(faults(environment(), { A: `é${'v'.repeat(65_534)}` })).toEqual([]);
    expect(faults(environment(), { A: `é${'v'.repeat(65_535)}` })).toEqual([
      ['A', 'must be at most 65536 bytes'],
    ]);
  });

  it('refuse NUL and a lone surrogate in a value', () => {
    expect(faults(environment(), { A: 'a\0b' })).toEqual([['A', 'must not contain a NUL character']]);
    expect(faults(environment(), { A: '\udfff' })).toEqual([['A', 'must be valid Unicode']]);
  });

  it('are 256 at most', () => {
    expect(faults(environment(), many(256))).toEqual([]);
    expect(faults(environment(), many(257))).toEqual([['', 'must have at most 256 keys; it has 257']]);
  });

  it('have 262,144 bytes in all at most, keys included', () => {
    const most = {
      A: 'v'.repeat(65_535),
      B: 'v'.repeat(65_535),
      C: 'v'.repeat(65_535),
      D: 'v'.repeat(65_535),
    };
    expect(faults(environment(), most)).toEqual([]);
    expect(faults(environment(), { ...most, E: '' })).toEqual([
      ['', 'must be at most 262144 bytes in all; it is 262145'],
    ]);
  });
});
