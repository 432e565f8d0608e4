/** JSON that is sent is never whole in memory when it is large. */
import { describe, expect, it } from 'vitest';
import { isLargeJson, jsonPieces } from '../../src/surfaces/json/pieces.ts';
import { processorMs } from '../support/processor-time.ts';

const PIECE_CHARS = 64 * 1024;

const MiB = 1024 * 1024;

describe('JSON in pieces', () => {
  const pair = '😀';
  it.each([
    ['scalars', [1, -0.5, true, false, null, 'a"\\\n\u0001é', '']],
    ['what is empty', { list: [], object: {}, nested: [[], {}] }],
    ['what is undefined', { left: undefined, kept: 1, inList: [undefined] }],
    ['a text longer than a piece', { text: `${'x'.repeat(65_535)}${pair.repeat(70_000)}\u0002` }],
    ['a lone half of a pair', { text: `${'x'.repeat(65_535)}\ud83d${'y'.repeat(70_000)}` }],
    ['many small values', Array.from({ length: 50_000 }, (_, at) => ({ at, name: `n${at}` }))],
    ['a text', 'x'.repeat(200_000)],
    ['a number', 7],
  ])('%s come out as JSON.stringify makes them', (_what, value) => {
    const pieces = [...jsonPieces(value)];
    expect(pieces.join('')).toBe(JSON.stringify(value));
    // Each character of a text is six of JSON at most.
    for (const piece of pieces) expect(piece.length).toBeLessThan(8 * PIECE_CHARS);
  });

  it('of a text have 64 Ki of its characters each, besides the quotation marks', () => {
    const pieces = [...jsonPieces('x'.repeat(3 * PIECE_CHARS))];
    expect(pieces.map(({ length }) => length)).toEqual([PIECE_CHARS + 1, PIECE_CHARS, PIECE_CHARS, 1]);
  });

  it('are made one at a time, none of which takes 100 ms', () => {
    let slowest = 0;
    let begun = processorMs();
    for (const piece of jsonPieces({ content: '\u0001'.repeat(16 * MiB) })) {
      slowest = Math.max(slowest, processorMs() - begun);
      expect(piece.length).toBeGreaterThan(0);
      begun = processorMs();
    }
    expect(slowest).toBeLessThan(100);
  });

  it('are for what is long: text, or many values', () => {
    expect(isLargeJson({ a: 'x'.repeat(262_144) })).toBe(true);
    expect(isLargeJson(Array(32_768).fill(0))).toBe(true);
    expect(isLargeJson({ a: 'x'.repeat(200_000), b: [1, 2, 3] })).toBe(false);
    expect(isLargeJson(undefined)).toBe(false);
  });
});
