import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  atMost,
  compressed,
  decompressed,
  drain,
  Measure,
} from '../../src/runtime/kubernetes/archives/streams.ts';

async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const content = Buffer.concat([randomBytes(700_000), Buffer.alloc(3_000_000), Buffer.from('the end')]);

describe('the bytes of an archive', () => {
  it('come back from their compression, however they were cut', async () => {
    const packed = await buffer(compressed(pieces(content, 65_536)));
    expect(packed.length).toBeLessThan(750_000);
    expect(await buffer(compressed(pieces(content, 1_000)))).toEqual(packed);
    expect(await buffer(compressed(pieces(content, content.length)))).toEqual(packed);
    expect(await buffer(decompressed(pieces(packed, 999)))).toEqual(content);
  });

  it('are measured as they pass', async () => {
    const measure = new Measure();
    await drain(measure.of(pieces(content, 10_000)));
    expect(measure.sizeBytes).toBe(content.length);
    expect(measure.digest()).toBe(createHash('sha256').update(content).digest('hex'));
  });

  it('are refused when they are cut off or damaged', async () => {
    const packed = await buffer(compressed(pieces(content, 65_536)));
    await expect(buffer(decompressed(pieces(packed.subarray(0, -1), 5_000)))).rejects.toThrow();
    const damaged = Buffer.from(packed);
    damaged.writeUInt8(damaged.readUInt8(300_000) ^ 1, 300_000);
    await expect(buffer(decompressed(pieces(damaged, 5_000)))).rejects.toThrow();
  });

  it('are bounded', async () => {
    expect((await buffer(atMost(pieces(content, 5_000), content.length))).length).toBe(content.length);
    await expect(drain(atMost(pieces(content, 5_000), content.length - 1))).rejects.toMatchObject({
      code: 'resource_exhausted',
    });
  });

  it('that nobody wants any more end their source', async () => {
    let isOver = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield randomBytes(100_000);
      } finally {
        isOver = true;
      }
    }
    for await (const _ of compressed(endless())) break;
    await expect.poll(() => isOver).toBe(true);
  });

  it('fail with the error of their source', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield randomBytes(100);
      throw new Error('the source is gone');
    }
    await expect(drain(compressed(failing()))).rejects.toThrow('the source is gone');
    await expect(drain(decompressed(failing()))).rejects.toThrow();
  });
});
