/** Small pieces of bytes are put together, in order, and cost no more memory than they have bytes. */
import { expect, it } from 'vitest';
import { SmallPieces } from '../../src/fairness/body-pieces.ts';

const KiB = 1024;

it('small pieces become pages of 16 KiB, and large ones go on behind them as they are', () => {
  const small = new SmallPieces();
  const out: Buffer[] = [];
  for (let at = 0; at < 40 * KiB; at++) out.push(...small.add(Buffer.from([at % 251])));
  expect(out.map(({ length }) => length)).toEqual([16 * KiB, 16 * KiB]);
  const large = Buffer.alloc(4 * KiB, 255);
  const [rest, last] = small.add(large);
  expect(rest).toHaveLength(8 * KiB);
  expect(last).toBe(large);
  const whole = Buffer.concat([...out, rest as Buffer]);
  expect(whole.every((byte, at) => byte === at % 251)).toBe(true);
  expect(small.take()).toEqual([]);
});

it('a piece that goes on early leaves the rest of its page to the next', () => {
  const small = new SmallPieces();
  const pages = new Set<ArrayBufferLike>();
  for (let at = 0; at < 1_000; at++) {
    // A piece alone goes on as it is; the second one begins a page.
    for (const piece of ['x', 'y']) small.add(Buffer.from(piece));
    for (const bytes of small.take()) {
      expect(bytes.toString()).toBe('xy');
      pages.add(bytes.buffer);
    }
  }
  expect(pages.size).toBe(1);
});
