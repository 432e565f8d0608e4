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
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
import { createEncryptedFiles } from './encrypted-files.ts';
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
