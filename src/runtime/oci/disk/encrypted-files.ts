/**
 * Encryption of packed archives from file to file, since tar and zstd work on files. The plain file lies beside the disk that
 * it was packed from, or is unpacked to, and goes as soon as it has served.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../../model/limits.ts';
import type { ArchiveEncryption } from '../../archives/protection.ts';
import { sync } from '../host/files.ts';

export interface EncryptedFiles {
  /** Writes the encrypted file durably, and proves that it opens to as many bytes as the plain one has. */
  seal(id: string, plain: string, sealed: string, signal?: AbortSignal): Promise<void>;
  /** Writes the plain file. Rejects with `unavailable`, and leaves a part of it, when the encrypted one is not genuine. */
  open(id: string, sealed: string, plain: string, signal?: AbortSignal): Promise<void>;
}

export function createEncryptedFiles(encryption: ArchiveEncryption): EncryptedFiles {
  return {
    seal: (id, plain, sealed, caller) =>
      bounded(caller, async (signal) => {
        await pipeline(read(plain), (bytes) => encryption.seal(id, bytes), write(sealed), { signal });
        await sync(sealed);
        let opened = 0;
        const count = async (contents: AsyncIterable<Uint8Array>) => {
          for await (const piece of contents) opened += piece.byteLength;
        };
        await pipeline(read(sealed), (bytes) => encryption.open(id, bytes), count, { signal });
        // The tag of each chunk was checked; the length shows a source that has ended early.
        if (opened !== (await stat(plain)).size) throw new Error('the encrypted archive is not whole');
      }),

    open: (id, sealed, plain, caller) =>
      bounded(caller, (signal) =>
        pipeline(read(sealed), (bytes) => encryption.open(id, bytes), write(plain), { signal }),
      ),
  };
}

/** Few and large reads: each is a turn of the thread pool. */
const READ = { highWaterMark: 512 * 1024 };

const read = (file: string) => createReadStream(file, READ);
const write = (file: string) => createWriteStream(file, { mode: 0o600 });

async function bounded(
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const timeout = AbortSignal.timeout(limits.archiveHelperTimeoutMs);
  const signal = caller ? AbortSignal.any([caller, timeout]) : timeout;
  try {
    await work(signal);
  } catch (error) {
    // The pipeline's own error of an abort hides the reason.
    signal.throwIfAborted();
    throw error;
  }
}
