/**
 * The form of encrypted archives. The known answers were computed with Python's hmac and cryptography 48 from the
 * description in docs/internals/archives.md.
 */
import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openChunk, sealChunk } from '../../src/runtime/archives/chunks.ts';
import { createArchiveEncryption } from '../../src/runtime/archives/protection.ts';
import { digestOf, source } from './place-conformance.ts';
import { testEncryption } from './test-encryption.ts';

const ID = 'sb_0123456789abcdef';
const CHUNK = 262_144;
const HEADER = 60;
const damaged = { code: 'unavailable', fields: { retryable: false } };
const otherKey = {
  code: 'unavailable',
  message: 'The archive of the sandbox is encrypted with another key.',
  fields: { retryable: true, hint: expect.stringContaining('secret.key') },
};

const header =
  '73616e64686176656e206172636869766520310a00112233445566ff' +
  '6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f80818283';
const derivedKey = '7292e19c2b89b45aa18f3d1bb9261f53cbdf2c8e269d25b0dabb8ceafe914327';
const countingKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const known = createArchiveEncryption({ key: countingKey, keyId: '00112233445566ff' }, true);
const encryption = testEncryption();

async function* piecesOf(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function whole(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

const seal = (content: Buffer, id = ID) => whole(encryption.seal(id, piecesOf(content, 70_001)));
const open = (sealed: Buffer, id = ID) => whole(encryption.open(id, piecesOf(sealed, 33_333)));

/** Opens, and returns what came out before the failure. */
async function untilFailure(sealed: Buffer): Promise<{ content: Buffer; error: unknown }> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of encryption.open(ID, piecesOf(sealed, 33_333))) pieces.push(piece);
  } catch (error) {
    return { content: Buffer.concat(pieces), error };
  }
  throw new Error('it opened');
}

describe('the form of encrypted archives', () => {
  it.each([
    ['', '0afb6bf02c3268ec4ccda1d605645d58'],
    ['the disk of a sandbox', '41b1ff65610f8248725b3022c94ce27473cd3724694f2661f69a097fda5032df5a7895703a'],
  ])('opens a known archive of %j', async (content, chunk) => {
    const sealed = Buffer.from(header + chunk, 'hex');
    for (const pieceBytes of [1, 7, 1_000])
      expect((await whole(known.open(ID, piecesOf(sealed, pieceBytes)))).toString()).toBe(content);
  });

  it.each([
    [0, false, 'first', 'e3b480c2c3eb0b6408313a80fd52e767b8cbf151f7'],
    [1, false, 'second', '308982512933e860f42047b94b7a512c9c252810e3f2'],
    [2, true, 'last', 'd9db3c6c2a082242b9c2ffb0f6135c93c0be76ca'],
    [1_099_511_627_779, true, 'far', 'cd82a5c3f9e5d7edb59115d0e974740304bedf'],
  ])('has known chunks: number %d, last %s', (number, last, content, sealed) => {
    const key = createSecretKey(Buffer.from(derivedKey, 'hex'));
    const associated = Buffer.concat([Buffer.from(header, 'hex'), Buffer.from(ID)]);
    expect(sealChunk({ key, associated }, { number, last }, Buffer.from(content)).toString('hex')).toBe(
      sealed,
    );
    const opened = openChunk({ key, associated }, { number, last }, Buffer.from(sealed, 'hex'));
    expect(opened?.toString()).toBe(content);
  });

  it.each([
    ['nothing', 0, 76],
    ['one byte', 1, 77],
    ['one byte less than a chunk', CHUNK - 1, 262_219],
    ['exactly a chunk', CHUNK, 262_220],
    ['one byte more', CHUNK + 1, 262_237],
    ['exactly two chunks', 2 * CHUNK, 524_380],
    ['more than two', 2 * CHUNK + 5, 524_401],
  ])('gives back %s, and takes 60 bytes and 16 for each chunk', async (_what, size, sealedBytes) => {
    const content = Buffer.alloc(size, 'some content, ');
    const sealed = await seal(content);
    expect(sealed.length).toBe(sealedBytes);
    expect((await open(sealed)).equals(content)).toBe(true);
  });

  it('is another for the same content every time, and shows none of it', async () => {
    const content = Buffer.from('canary of the content');
    const [one, two] = [await seal(content), await seal(content)];
    expect(one.subarray(0, 28)).toEqual(two.subarray(0, 28));
    expect(one.subarray(28).equals(two.subarray(28))).toBe(false);
    expect(one.includes('canary')).toBe(false);
  });

  it('holds back its source while nobody reads', async () => {
    let given = 0;
    async function* counted() {
      for (; given < 100; given += 1) yield Buffer.alloc(CHUNK);
    }
    const sealed = encryption.seal(ID, counted());
    for (let read = 0; read < 3; read += 1) await sealed.next();
    expect(given).toBeLessThan(5);
    await sealed.return(undefined);
  });
});

describe('a hostile archive', () => {
  const content = Buffer.alloc(2 * CHUNK + 100, 'some content, ');
  const CHUNK_AND_TAG = CHUNK + 16;

  it('does not open at any length but its own', async () => {
    const sealed = await seal(Buffer.from('small'));
    for (let length = 0; length < sealed.length; length += 1)
      await expect(open(sealed.subarray(0, length))).rejects.toMatchObject(damaged);
    await expect(open(Buffer.concat([sealed, Buffer.of(0)]))).rejects.toMatchObject(damaged);
  });

  it('does not open with any bit changed', async () => {
    const sealed = await seal(Buffer.from('small'));
    for (let bit = 0; bit < 8 * sealed.length; bit += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      // Bytes 20 to 27 are the key id.
      const expected = bit >> 3 >= 20 && bit >> 3 < 28 ? otherKey : damaged;
      await expect(open(changed)).rejects.toMatchObject(expected);
    }
  });

  it.each([
    ['at the end of the header', HEADER],
    ['at the end of the first chunk', HEADER + CHUNK_AND_TAG],
    ['at the end of the second', HEADER + 2 * CHUNK_AND_TAG],
    ['within the second', HEADER + CHUNK_AND_TAG + 1_000],
    ['one byte before its end', HEADER + 2 * CHUNK_AND_TAG + 115],
  ])('that is cut off %s fails, and gives out whole chunks alone', async (_where, length) => {
    const { content: before, error } = await untilFailure((await seal(content)).subarray(0, length));
    expect(error).toMatchObject(damaged);
    expect(before.length % CHUNK).toBe(0);
    expect(before.equals(content.subarray(0, before.length))).toBe(true);
  });

  it.each([
    ['swapped', [1, 0, 2]],
    ['repeated', [0, 0, 1, 2]],
    ['missing', [0, 2]],
    ['missing at the beginning', [1, 2]],
    ['appended', [0, 1, 2, 2]],
  ])('with chunks %s does not open', async (_what, order) => {
    const sealed = await seal(content);
    const chunks = [0, 1, 2].map((at) =>
      sealed.subarray(HEADER + at * CHUNK_AND_TAG, HEADER + (at + 1) * CHUNK_AND_TAG),
    );
    const made = Buffer.concat([sealed.subarray(0, HEADER), ...order.map((at) => chunks[at] as Buffer)]);
    await expect(open(made)).rejects.toMatchObject(damaged);
  });

  it('with a chunk of another archive of the same sandbox does not open', async () => {
    const [one, two] = [await seal(content), await seal(content)];
    two.copy(one, HEADER, HEADER, HEADER + CHUNK_AND_TAG);
    expect(await untilFailure(one)).toMatchObject({ content: Buffer.alloc(0), error: damaged });
  });

  it('with the header of another archive does not open', async () => {
    const [one, two] = [await seal(content), await seal(content)];
    two.copy(one, 0, 0, HEADER);
    await expect(open(one)).rejects.toMatchObject(damaged);
  });

  it('of another sandbox does not open', async () => {
    await expect(open(await seal(content, 'sb_fedcba9876543210'))).rejects.toMatchObject(damaged);
  });

  it('that is plain does not open', async () => {
    await expect(open(Buffer.alloc(1_000, 'plain'))).rejects.toMatchObject(damaged);
  });

  it('of another key does not open, by whatever id', async () => {
    const sealed = await seal(content);
    const stranger = testEncryption({ fill: 8, keyId: 'fedcba9876543210' });
    await expect(digestOf(stranger.open(ID, piecesOf(sealed, 1_000)))).rejects.toMatchObject(otherKey);
    const impostor = testEncryption({ fill: 8 });
    await expect(digestOf(impostor.open(ID, piecesOf(sealed, 1_000)))).rejects.toMatchObject(damaged);
  });

  it('passes on the failure of its source', async () => {
    async function* failing() {
      yield Buffer.alloc(CHUNK);
      throw new Error('the source failed');
    }
    await expect(digestOf(encryption.seal(ID, failing()))).rejects.toThrow('the source failed');
  });
});

describe('the record of an archive', () => {
  it('names the key of an encrypted one, and none of a plain one', () => {
    expect(encryption.mark).toEqual({ keyId: '0123456789abcdef' });
    expect(testEncryption({ encrypts: false }).mark).toEqual({});
  });

  it.each([true, false])('of either kind is read while new ones are encrypted: %s', (encrypts) => {
    const reader = testEncryption({ encrypts });
    reader.assertOpens({});
    reader.assertOpens({ keyId: '0123456789abcdef' });
  });

  it('of another key is refused before anything is read', () => {
    expect(() => encryption.assertOpens({ keyId: 'fedcba9876543210' })).toThrow(
      expect.objectContaining(otherKey),
    );
  });
});

describe('a large archive', () => {
  it('keeps its bytes', async () => {
    const { bytes, digest } = source(20 * 2 ** 20 + 3, 2 ** 20);
    const opened = await digestOf(encryption.open(ID, encryption.seal(ID, bytes)));
    expect(opened).toBe(digest());
  });
});
