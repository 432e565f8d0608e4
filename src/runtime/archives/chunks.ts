/**
 * Chunks of an encrypted archive, each AES-256-GCM by itself, so that nothing is used before its tag was checked, and
 * none of the archive is held but one chunk. The nonce has the chunk's number, and a mark on the last one, so chunks that
 * are missing, moved, repeated or appended do not open.
 *
 * The construction is STREAM of Hoang, Reyhanitabar, Rogaway and Vizár, "Online Authenticated-Encryption and its
 * Nonce-Reuse Misuse-Resistance", CRYPTO 2015 (https://eprint.iacr.org/2015/189), section 7. Its nonces are laid out as those of
 * the payload in age (https://age-encryption.org/v1). A key serves one archive.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { KiB } from '../../model/limits/units.ts';

/** Content of every chunk but the last one, which may be shorter. A part of the format. */
export const CHUNK_BYTES = 256 * KiB;
export const TAG_BYTES = 16;

/** Key of one archive, and what its chunks are bound to. */
export interface ChunkKey {
  key: KeyObject;
  associated: Uint8Array;
}

export interface ChunkPlace {
  number: number;
  last: boolean;
}

/** Returns the ciphertext and its tag, in fresh memory. */
export function sealChunk({ key, associated }: ChunkKey, place: ChunkPlace, content: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonceOf(place), { authTagLength: TAG_BYTES });
  cipher.setAAD(associated);
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** Returns null for a chunk that is not the one of this place, or is damaged. */
export function openChunk({ key, associated }: ChunkKey, place: ChunkPlace, sealed: Buffer): Buffer | null {
  const end = sealed.length - TAG_BYTES;
  if (end < 0) return null;
  const decipher = createDecipheriv(CIPHER, key, nonceOf(place), { authTagLength: TAG_BYTES });
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(end));
  const content = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
    return content;
  } catch {
    return null;
  }
}

/** Cuts a stream into a first piece and others of one size; the last may be shorter, and is empty with an empty stream. */
export async function* cut(
  bytes: AsyncIterable<Uint8Array>,
  firstBytes: number,
  otherBytes: number,
): AsyncGenerator<{ piece: Buffer; last: boolean }> {
  let filling = Buffer.allocUnsafe(firstBytes);
  let filled = 0;
  for await (const given of bytes) {
    for (let at = 0; at < given.byteLength; ) {
      // A full piece is held back until more comes: it may be the last one.
      if (filled === filling.length) {
        yield { piece: filling, last: false };
        filling = Buffer.allocUnsafe(otherBytes);
        filled = 0;
      }
      const taken = given.subarray(at, at + filling.length - filled);
      filling.set(taken, filled);
      filled += taken.byteLength;
      at += taken.byteLength;
    }
  }
  yield { piece: filling.subarray(0, filled), last: true };
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const NUMBER_BYTES = 6;

/** Number (11 bytes, big-endian) · 1 for the last chunk, else 0. */
function nonceOf({ number, last }: ChunkPlace): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(number, NONCE_BYTES - 1 - NUMBER_BYTES, NUMBER_BYTES);
  nonce.writeUInt8(last ? 1 : 0, NONCE_BYTES - 1);
  return nonce;
}
