/** Bytes of an archive on their way: measured, bounded, compressed and decompressed, with backpressure and no file. */
import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { ArchiveLocation } from '../../../model/sandbox.ts';
import type { ArchivePlace, RemotePlace } from '../../archives/places.ts';
import type { Notes } from './notes.ts';
import { elsewhere } from './refusals.ts';

/** Length and digest of what has passed. */
export class Measure {
  readonly #hash = createHash('sha256');
  sizeBytes = 0;

  async *of(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.sizeBytes += piece.byteLength;
      this.#hash.update(piece);
      yield piece;
    }
  }

  /** SHA-256, lower-case hex. Called once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}

/** Reads to the end. */
export async function drain(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

/** Passes on at most this many bytes, and then fails with `resource_exhausted`. */
export async function* atMost(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for await (const piece of bytes) {
    passed += piece.byteLength;
    if (passed > mostBytes) throw tooLong();
    yield piece;
  }
}

const PIECE_BYTES = 256 * 1024;

/** The same input gives the same output, however it is cut into pieces. */
export function compressed(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  return through(createZstdCompress({ chunkSize: PIECE_BYTES, params }), bytes);
}

/** Fails on what is not whole. Holds a window of 8 MiB at most; `compressed` asks for less. */
export function decompressed(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const params = { [constants.ZSTD_d_windowLogMax]: 23 };
  return through(createZstdDecompress({ chunkSize: PIECE_BYTES, params }), bytes);
}

async function* through(transform: Transform, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  transform.on('error', () => {});
  const feeding = feed(transform, bytes);
  // Destroying the transform ends it, and the reader below sees the error.
  feeding.catch((error: unknown) => transform.destroy(error as Error));
  try {
    yield* transform as AsyncIterable<Uint8Array>;
    await feeding;
  } finally {
    transform.destroy();
  }
}

/** One piece after the other: the end never comes together with bytes, so that no output depends on the timing. */
async function feed(transform: Transform, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of bytes) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    transform.write(piece, (error) => (error ? reject(error) : resolve()));
    await promise;
  }
  transform.end();
}

function tooLong(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'The content of the disk is too large for an archive.', {
    hint: 'Delete files of the sandbox that are no longer needed, and try again.',
    retryable: false,
  });
}

// Removal of archives. S3 knows no leases: so a note is read first, then the lease is asked for, and only then the object that
// the note named goes. That of a replica that took over has another key.

export interface Removal {
  /** Removes the archive that nothing names any more. What S3 does not remove now is collected later. */
  remove(id: string): Promise<void>;
  /** Removes what a failed archive has put, and its note where that is not of a newer one. */
  withdraw(id: string, location: ArchiveLocation): Promise<void>;
}

export interface RemovalDependencies {
  notes: Notes;
  placeOf(location: ArchiveLocation): ArchivePlace;
  /** Throws when another replica may have taken the work over. */
  assertTenure(): void;
  /** Reports what could not be removed. */
  left(id: string, error: unknown): void;
  log: Log;
}

export function createRemoval(parts: RemovalDependencies): Removal {
  const { notes, placeOf, assertTenure, left, log } = parts;

  async function noted(id: string): Promise<ArchiveLocation | null> {
    const note = await notes.read(id);
    assertTenure();
    return note?.location ?? null;
  }

  return {
    async remove(id) {
      const location = await noted(id);
      try {
        if (location) await placeOf(location).remove(id, location);
      } catch (error) {
        log.warn('an archive could not be removed; it is collected later', { sandbox: id, error });
      }
      await notes.remove(id);
    },

    async withdraw(id, location) {
      try {
        await placeOf(location).remove(id, location);
      } catch (error) {
        left(id, error);
      }
      await notes.remove(id, location);
    },
  };
}

/** Throws `unavailable` for an archive in a place that the service does not have. */
export function placesOf(remote: RemotePlace | null): (location: ArchiveLocation) => ArchivePlace {
  return (location) => {
    if (location.store === 's3' && remote !== null) return remote.place;
    throw elsewhere();
  };
}
