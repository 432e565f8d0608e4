/**
 * Archives: the disk image as a sparse tar through zstd. The image is packed instead of its tree, because a tree
 * is full of names that the sandbox chose. A place, on this host or outside, keeps the bytes.
 *
 * An encrypted archive is made of the packed file, and made one again before it is unpacked. A note in the sandbox's folder
 * names an archive outside this host, so that a look for traces asks nobody outside.
 *
 * Invariants: an archive is written, synced, read back and compared before it gets its name or leaves this host; a disk
 * is restored only from an archive whose digest and HMAC match its record, so that a foreign image is never mounted; a note
 * is on the disk before its archive is begun, and goes after it.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { ArchiveLocation, ArchiveRecord } from '../../../model/sandbox.ts';
import type { ArchivePlaces } from '../../archives/places.ts';
import {
  type ArchiveEncryption,
  assertSigned,
  notItsArchive,
  signatureOf,
} from '../../archives/protection.ts';
import { commit, removeDurably, sync, unlessMissing } from '../host/files.ts';
import type { HelperOptions, Helpers } from '../host/helper.ts';
import type { Layout } from '../host/layout.ts';
import { waitUntilFree } from './loop-devices.ts';

export interface Archives {
  /** Removes the packed disks that a killed service left unencrypted. */
  init(): Promise<void>;
  /** Keeps the disk. */
  write(id: string, signal?: AbortSignal): Promise<ArchiveRecord>;
  /**
   * Keeps the archive; replaces an existing disk.
   * @param disk Path of the image that is made; the sandbox's own by default.
   */
  restore(
    id: string,
    record: ArchiveRecord,
    options?: { disk?: string; signal?: AbortSignal },
  ): Promise<void>;
  remove(id: string): Promise<void>;
  /**
   * Removes the archive of a sandbox that is going, where it lies outside this host. Never rejects: one that cannot be
   * removed now is collected later.
   */
  forget(id: string): Promise<void>;
}

export interface ArchivesDependencies {
  layout: Layout;
  helpers: Helpers;
  places: ArchivePlaces;
  /** Signs archives. */
  installationKey: Buffer;
  encryption: ArchiveEncryption;
  log: Pick<Log, 'warn'>;
}

export function createArchives(parts: ArchivesDependencies): Archives {
  const { layout, helpers, places, installationKey, encryption, log } = parts;
  const encrypted = createEncryptedFiles(encryption);
  const helperOptions = (signal?: AbortSignal): HelperOptions & { nice: number } => ({
    timeoutMs: limits.archiveHelperTimeoutMs,
    signal,
    nice: NICENESS,
  });

  async function digestOf(path: string, signal?: AbortSignal): Promise<string> {
    const output = await helpers.run('sha256sum', ['--binary', path], helperOptions(signal));
    const digest = /^\\?([0-9a-f]{64}) /.exec(output)?.[1];
    if (digest === undefined) throw new Error('sha256sum gave no digest');
    return digest;
  }

  /** Packs the disk into this file. */
  async function pack(disk: string, file: string, signal?: AbortSignal): Promise<void> {
    await rm(file, { force: true });
    const options = ['--create', '--sparse', '--format=gnu', ...COMPRESS, '--force-local', '--file', file];
    const source = ['--directory', dirname(disk), basename(disk)];
    await helpers.run('tar', [...options, ...source], { ...helperOptions(signal), lock: disk });
    await sync(file);
    // zstd wrote a checksum of its input; reading the archive back proves that it still holds that input.
    await helpers.run('zstd', ['--test', '--quiet', file], helperOptions(signal));
  }

  /** Makes the archive of the disk in this file, and returns its digest. */
  async function make(id: string, file: string, signal?: AbortSignal): Promise<string> {
    const plain = layout.archive(id) + PLAIN;
    try {
      await pack(layout.disk(id), encryption.encrypts ? plain : file, signal);
      if (encryption.encrypts) await encrypted.seal(id, plain, file, signal);
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    } finally {
      // Also one that an interrupted attempt left.
      await rm(plain, { force: true });
    }
    return digestOf(file, signal);
  }

  /** Makes the disk from an archive in this file, once its bytes are those of the record. */
  async function unpack(
    id: string,
    file: string,
    record: ArchiveRecord,
    { disk, signal }: { disk: string; signal?: AbortSignal | undefined },
  ): Promise<void> {
    if ((await stat(file)).size !== record.sizeBytes) throw notItsArchive();
    if ((await digestOf(file, signal)) !== record.digest) throw notItsArchive();
    const plain = layout.archive(id) + PLAIN;
    const isEncrypted = record.keyId !== undefined;
    try {
      if (isEncrypted) await encrypted.open(id, file, plain, signal);
      await extract(isEncrypted ? plain : file, disk, signal);
    } finally {
      await rm(plain, { force: true });
    }
  }

  async function extract(file: string, disk: string, signal?: AbortSignal): Promise<void> {
    await waitUntilFree(disk);
    const folder = disk + RESTORING;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    const options = ['--extract', '--sparse', ...COMPRESS, '--force-local', '--file', file];
    await helpers.run('tar', [...options, '--directory', folder, basename(disk)], helperOptions(signal));
    await commit(join(folder, basename(disk)), disk);
    await rm(folder, { recursive: true });
  }

  /** Removes the archive outside this host, and the note of it. */
  async function removeOutside(id: string): Promise<void> {
    const location = await readNote(layout.archiveNote(id));
    if (location !== null) await places.of(location).remove(id, location);
    await removeNote(layout.archiveNote(id));
  }

  return {
    async init() {
      for (const id of await readdir(layout.sandboxes)) await rm(layout.archive(id) + PLAIN, { force: true });
    },

    async write(id, signal) {
      const partial = layout.archive(id) + PARTIAL;
      await waitUntilFree(layout.disk(id));
      const digest = await make(id, partial, signal);
      const location = places.chosen.locate(id);
      if (location.store !== 'local') await writeNote(layout.archiveNote(id), location);
      try {
        const sizeBytes = await places.chosen.putFile(id, location, partial, { signal });
        const hmac = signatureOf(installationKey, id, digest);
        return { ...location, digest, hmac, sizeBytes, ...encryption.mark };
      } catch (error) {
        await rm(partial, { force: true });
        if (location.store !== 'local') await removeNote(layout.archiveNote(id));
        throw error;
      }
    },

    async restore(id, record, { disk = layout.disk(id), signal } = {}) {
      assertSigned(installationKey, id, record);
      encryption.assertOpens(record);
      const spool = layout.archive(id) + PARTIAL;
      if (record.store !== 'local') await mkdir(layout.sandbox(id), { recursive: true });
      const file = await places.of(record).getFile(id, record, spool, { signal });
      if (file === null) throw notItsArchive();
      try {
        await unpack(id, file, record, { disk, signal });
      } finally {
        await rm(spool, { force: true });
      }
    },

    async remove(id) {
      for (const left of [PARTIAL, PLAIN]) await rm(layout.archive(id) + left, { force: true });
      await removeDurably(layout.archive(id));
      await removeOutside(id);
    },

    async forget(id) {
      try {
        await removeOutside(id);
      } catch (error) {
        log.warn('an archive could not be removed; it is collected later', { sandbox: id, error });
      }
    },
  };
}

const PARTIAL = '.partial';
/** The packed disk on its way to encryption, or back. */
const PLAIN = '.plain';
const RESTORING = '.restoring';
/** Archiving is never urgent; running machines go first. */
const NICENESS = 10;
const COMPRESS = ['--use-compress-program', 'zstd --threads=0'];

/** Returns null without a note, or with one that cannot be read. */
async function readNote(note: string): Promise<ArchiveLocation | null> {
  const text = await unlessMissing(readFile(note, 'utf8'));
  try {
    const { store, bucket, key } = JSON.parse(text ?? '');
    return store === 's3' && typeof bucket === 'string' && typeof key === 'string'
      ? { store, bucket, key }
      : null;
  } catch {
    return null;
  }
}

async function writeNote(note: string, location: ArchiveLocation): Promise<void> {
  await writeFile(note + PARTIAL, JSON.stringify(location), { mode: 0o600 });
  await commit(note + PARTIAL, note);
}

async function removeNote(note: string): Promise<void> {
  if ((await unlessMissing(stat(note))) !== null) await removeDurably(note);
}

// Encryption of packed archives from file to file, since tar and zstd work on files. The plain file lies beside the disk that
// it was packed from, or is unpacked to, and goes as soon as it has served.

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
