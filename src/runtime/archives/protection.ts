/**
 * Protection of archives by keys of the installation. A signature binds the record of an archive to one sandbox. Where the
 * operator wants it, archives are encrypted: each has a key of its own, derived from a random salt (HKDF-SHA-256, RFC 5869),
 * and is bound to its sandbox, so that it stands for no other.
 *
 * Form: 'sandhaven archive 1' and a line feed (20 bytes) · key id (8) · salt (32) · chunks. Each chunk is bound to these 60
 * bytes and to the sandbox's id. docs/internals/archives.md has the reasons.
 */
import { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { SandhavenError } from '../../model/errors.ts';
import type { ArchiveRecord } from '../../model/sandbox.ts';
import { CHUNK_BYTES, type ChunkKey, cut, openChunk, sealChunk, TAG_BYTES } from './chunks.ts';

export interface ArchiveEncryption {
  /** true: new archives are encrypted. Existing ones are read either way. */
  readonly encrypts: boolean;
  /** Part of the records of new archives. */
  readonly mark: Pick<ArchiveRecord, 'keyId'>;
  /** Encrypts an archive of this sandbox. */
  seal(id: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer>;
  /** Gives out the contents, each chunk once it was checked. Fails with `unavailable` at the first that is not genuine. */
  open(id: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer>;
  /** Throws `unavailable` when the archive is encrypted with another key. */
  assertOpens(record: Pick<ArchiveRecord, 'keyId'>): void;
}

export interface EncryptionKey {
  /** 32 bytes, for archives alone. */
  key: Buffer;
  /** 16 hexadecimal digits that identify the key and reveal nothing of it. */
  keyId: string;
}

export function createArchiveEncryption({ key, keyId }: EncryptionKey, encrypts: boolean): ArchiveEncryption {
  const start = Buffer.concat([MAGIC, Buffer.from(keyId, 'hex')]);

  function keyOf(header: Buffer, id: string): ChunkKey {
    const salt = header.subarray(SALT_AT);
    const derived = Buffer.from(hkdfSync('sha256', key, salt, 'sandhaven archive 1', KEY_BYTES));
    return { key: createSecretKey(derived), associated: Buffer.concat([header, Buffer.from(id)]) };
  }

  function assertHeader(header: Buffer): void {
    if (header.length !== HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC))
      throw notItsArchive();
    if (!header.subarray(0, SALT_AT).equals(start)) throw otherKey();
  }

  return {
    encrypts,
    mark: encrypts ? { keyId } : {},

    async *seal(id, bytes) {
      const header = Buffer.concat([start, randomBytes(SALT_BYTES)]);
      yield header;
      const chunkKey = keyOf(header, id);
      let number = 0;
      for await (const { piece, last } of cut(bytes, CHUNK_BYTES, CHUNK_BYTES)) {
        yield sealChunk(chunkKey, { number, last }, piece);
        number += 1;
      }
    },

    async *open(id, bytes) {
      let chunkKey: ChunkKey | null = null;
      let number = 0;
      for await (const { piece, last } of cut(bytes, HEADER_BYTES, CHUNK_BYTES + TAG_BYTES)) {
        if (chunkKey === null) {
          assertHeader(piece);
          // An empty archive has a chunk, too.
          if (last) throw notItsArchive();
          chunkKey = keyOf(piece, id);
          continue;
        }
        const content = openChunk(chunkKey, { number, last }, piece);
        if (content === null) throw notItsArchive();
        number += 1;
        yield content;
      }
    },

    assertOpens({ keyId: needed }) {
      if (needed !== undefined && needed !== keyId) throw otherKey();
    },
  };
}

const MAGIC = Buffer.from('sandhaven archive 1\n');
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const SALT_BYTES = 32;
const SALT_AT = MAGIC.length + KEY_ID_BYTES;
const HEADER_BYTES = SALT_AT + SALT_BYTES;

/** Returns the signature of an archive's record, lower-case hex. @param key Of the installation. */
export function signatureOf(key: Buffer, id: string, digest: string): string {
  return createHmac('sha256', key).update(`${id}\n${digest}`).digest('hex');
}

/** Throws `unavailable` when the record was not written by this installation for this sandbox. */
export function assertSigned(key: Buffer, id: string, record: ArchiveRecord): void {
  const given = Buffer.from(record.hmac, 'hex');
  const expected = Buffer.from(signatureOf(key, id, record.digest), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw notItsArchive();
}

function otherKey(): SandhavenError {
  return new SandhavenError('unavailable', 'The archive of the sandbox is encrypted with another key.', {
    hint: 'Nothing was changed. Ask the operator to start the service with the secret.key of the installation that wrote it.',
    retryable: true,
  });
}

export function notItsArchive(): SandhavenError {
  return new SandhavenError('unavailable', 'The archive of the sandbox is damaged or not its own.', {
    hint: 'Nothing was changed. Ask the operator to bring back the archive from a backup.',
    retryable: false,
  });
}
