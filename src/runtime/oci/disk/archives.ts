/**
 * Archives: the disk image as a sparse tar through zstd. The image is packed instead of its tree, because a tree
 * is full of names that the sandbox chose.
 *
 * Invariants: an archive is written, synced, read back and compared before it gets its name; a disk is restored
 * only from an archive whose digest and HMAC match its record, so that a foreign image is never mounted.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { ArchiveRecord } from '../../../model/sandbox.ts';
import { commit, removeDurably, sync, unlessMissing } from '../host/files.ts';
import type { HelperOptions, Helpers } from '../host/helper.ts';
import type { Layout } from '../layout.ts';
import { waitUntilFree } from './loop-devices.ts';

export interface Archives {
  /** Keeps the disk. */
  write(id: string, signal?: AbortSignal): Promise<ArchiveRecord>;
  /** Keeps the archive; replaces an existing disk. */
  restore(id: string, record: ArchiveRecord, signal?: AbortSignal): Promise<void>;
  remove(id: string): Promise<void>;
}

export function createArchives(layout: Layout, helpers: Helpers, installationKey: Buffer): Archives {
  const helperOptions = (signal?: AbortSignal): HelperOptions & { nice: number } => ({
    timeoutMs: limits.archiveHelperTimeoutMs,
    signal,
    nice: NICENESS,
  });
  const hmacOf = (id: string, digest: string): Buffer =>
    createHmac('sha256', installationKey).update(`${id}\n${digest}`).digest();

  async function digestOf(path: string, signal?: AbortSignal): Promise<string> {
    const output = await helpers.run('sha256sum', ['--binary', path], helperOptions(signal));
    const digest = /^\\?([0-9a-f]{64}) /.exec(output)?.[1];
    if (digest === undefined) throw new Error('sha256sum gave no digest');
    return digest;
  }

  return {
    async write(id, signal) {
      const [disk, archive] = [layout.disk(id), layout.archive(id)];
      const partial = archive + PARTIAL;
      await waitUntilFree(disk);
      await rm(partial, { force: true });
      const pack = ['--create', '--sparse', '--format=gnu', ...COMPRESS, '--force-local', '--file', partial];
      const source = ['--directory', dirname(disk), basename(disk)];
      await helpers.run('tar', [...pack, ...source], { ...helperOptions(signal), lock: disk });
      await sync(partial);
      // zstd wrote a checksum of its input; reading the archive back proves that it still holds that input.
      await helpers.run('zstd', ['--test', '--quiet', partial], helperOptions(signal));
      const digest = await digestOf(partial, signal);
      await commit(partial, archive);
      const { size } = await stat(archive);
      return { digest, hmac: hmacOf(id, digest).toString('hex'), sizeBytes: size };
    },

    async restore(id, record, signal) {
      const [disk, archive] = [layout.disk(id), layout.archive(id)];
      const given = Buffer.from(record.hmac, 'hex');
      const expected = hmacOf(id, record.digest);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw notItsArchive();
      const found = await unlessMissing(stat(archive));
      if (found?.size !== record.sizeBytes) throw notItsArchive();
      if ((await digestOf(archive, signal)) !== record.digest) throw notItsArchive();
      await waitUntilFree(disk);
      const folder = disk + RESTORING;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      const unpack = ['--extract', '--sparse', ...COMPRESS, '--force-local', '--file', archive];
      await helpers.run('tar', [...unpack, '--directory', folder, basename(disk)], helperOptions(signal));
      await commit(join(folder, basename(disk)), disk);
      await rm(folder, { recursive: true });
    },

    async remove(id) {
      await rm(layout.archive(id) + PARTIAL, { force: true });
      await removeDurably(layout.archive(id));
    },
  };
}

const PARTIAL = '.partial';
const RESTORING = '.restoring';
/** Archiving is never urgent; running machines go first. */
const NICENESS = 10;
const COMPRESS = ['--use-compress-program', 'zstd --threads=0'];

function notItsArchive(): SandhavenError {
  return new SandhavenError('unavailable', 'The archive of the sandbox is damaged or not its own.', {
    hint: 'Nothing was changed. Ask the operator to bring back the archive file from a backup.',
    retryable: false,
  });
}
