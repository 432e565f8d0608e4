/** Names that are not UTF-8, as text and back: the same mapping as the agent has. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsRawBytes, pathToBytes, pathToText } from '../../src/model/path-text.ts';

describe('a name as text', () => {
  it('[WIRE-FILES-24] has a character of its own for each byte that is not UTF-8', () => {
    expect(pathToText(Buffer.from('61ff6280', 'hex'))).toBe('a\uf7ffb\uf780');
    expect(pathToBytes('a\uf7ffb\uf780')).toEqual(Buffer.from('61ff6280', 'hex'));
  });

  it('distinguishes a name that holds such a character from the byte', () => {
    const name = Buffer.from('\uf7ff');
    expect(pathToText(name)).toBe('\uf7ef\uf79f\uf7bf');
    expect(pathToBytes(pathToText(name))).toEqual(name);
  });

  it.each([
    ['cut off', 'e282', '\uf7e2\uf782'],
    ['too long', 'c080', '\uf7c0\uf780'],
    ['a surrogate', 'eda080', '\uf7ed\uf7a0\uf780'],
    ['beyond Unicode', 'f4908080', '\uf7f4\uf790\uf780\uf780'],
  ])('maps a sequence that is %s byte by byte', (_what, bytes, text) => {
    expect(pathToText(Buffer.from(bytes, 'hex'))).toBe(text);
  });

  it.each(['00', '7f', 'c280', 'dfbf', 'e0a080', 'ed9fbf', 'efbfbf', 'f0908080', 'f48fbfbf'])(
    'keeps the character %s beside a byte that is none',
    (bytes) => {
      const character = Buffer.from(bytes, 'hex').toString();
      expect(pathToText(Buffer.from(`ff${bytes}80${bytes}`, 'hex'))).toBe(
        `\uf7ff${character}\uf780${character}`,
      );
    },
  );

  it.each([
    ['80', '\uf780'],
    ['c1bf', '\uf7c1\uf7bf'],
    ['c2', '\uf7c2'],
    ['c261', '\uf7c2a'],
    ['e0a0', '\uf7e0\uf7a0'],
    ['f09080', '\uf7f0\uf790\uf780'],
    ['f5808080', '\uf7f5\uf780\uf780\uf780'],
  ])('maps %s, which is no character, byte by byte', (bytes, text) => {
    expect(pathToText(Buffer.from(bytes, 'hex'))).toBe(text);
    expect(holdsRawBytes(text)).toBe(true);
  });

  it('survives the way there and back, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (name) => {
        expect(pathToBytes(pathToText(Buffer.from(name)))).toEqual(Buffer.from(name));
      }),
      { numRuns: 1_000 },
    );
  });

  it('leaves ordinary text as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a é€😀\n'), maxLength: 30 }), (text) => {
        expect(pathToText(Buffer.from(text))).toBe(text);
        expect(holdsRawBytes(text)).toBe(false);
      }),
    );
  });
});
