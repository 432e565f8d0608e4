/** Bytes of an archive on their way: measured, bounded, compressed and decompressed, with backpressure and no file. */
import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { SandhavenError } from '../../../model/errors.ts';

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
