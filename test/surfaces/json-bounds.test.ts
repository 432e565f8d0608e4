/** JSON that arrives and JSON that is sent: bounded in what it is made of, and never whole in memory when it is large. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { isLargeJson, jsonPieces } from '../../src/surfaces/json/pieces.ts';
import { JsonScan } from '../../src/surfaces/json/scan.ts';
import { processorMs, processorMsOf } from '../support/processor-time.ts';

const MiB = 1024 * 1024;

/** The scan of a text, in chunks of so many bytes. */
function scan(text: string, bytes = 65_536): void {
  const body = Buffer.from(text);
  const scanning = new JsonScan();
  for (let at = 0; at < body.length; at += bytes) scanning.push(body.subarray(at, at + bytes));
}

const tooLarge = expect.objectContaining({ code: 'too_large' });
const list = (values: number) => `[${Array(values).fill('1').join()}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('the scan of a body', () => {
  it('takes 10,000 keys and values, and refuses more', () => {
    expect(() => scan(list(9_998))).not.toThrow();
    expect(() => scan(list(10_001))).toThrow(tooLarge);
    const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`;
    expect(() => scan(keys(4_999))).not.toThrow();
    expect(() => scan(keys(5_001))).toThrow(tooLarge);
    expect(() => scan(`[${'{},'.repeat(5_001)}0]`)).toThrow(tooLarge);
  });

  it('takes 64 levels, and refuses more', () => {
    expect(() => scan(nested(64))).not.toThrow();
    expect(() => scan(nested(65))).toThrow(tooLarge);
    expect(() => scan('{"a":'.repeat(65))).toThrow(tooLarge);
    expect(() => scan('[],'.repeat(4_000))).not.toThrow();
  });

  it('counts a text as one value, whatever is in it and wherever it is cut', () => {
    const text = `"${String.raw`[{,:\"\\`.repeat(5_000)}"`;
    for (const bytes of [1, 2, 3, 7, 65_536]) expect(() => scan(`[${text},${text}]`, bytes)).not.toThrow();
    const after = `["\\\\",${list(10_001)}]`;
    for (const bytes of [1, 2, 3, 7]) expect(() => scan(after, bytes)).toThrow(tooLarge);
  });

  it('takes less than 100 ms for any 64 KiB of 24 MiB', () => {
    for (const unit of ['x', '\\"', '[', '"']) {
      const chunk = Buffer.alloc(65_536, unit);
      const ms = processorMsOf(() => {
        try {
          new JsonScan().push(chunk);
        } catch {
          // Refused is as good as taken.
        }
      });
      expect(ms, unit).toBeLessThan(100);
    }
  });
});

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
    for (const piece of pieces) expect(piece.length).toBeLessThan(8 * limits.answerPieceChars);
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
