/**
 * Copies of a sandbox's files for a backup, made in the sandbox's turn: no start, stop or archive meanwhile. An archive
 * is never changed, so another link to it is a copy.
 */
import { copyFile, link, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { toCallerError } from '../host/failures.ts';
import { unlessMissing } from '../host/files.ts';
import type { Helpers } from '../host/helper.ts';
import type { Layout } from '../host/layout.ts';
import { allocatedBytes, freeDiskBytes } from '../host/room.ts';
import type { Work } from '../host/work.ts';
import type { DiskCopies } from './disk-copies.ts';

/** Paths of the copies; null for what the sandbox does not have. */
export interface SandboxCopy {
  /** Sparse tar of the disk, through zstd, as in an archive. */
  disk: string | null;
  archive: string | null;
  /** Note of an archive outside this host. */
  archiveNote: string | null;
}

export interface SandboxCopies {
  /**
   * Copies into a new folder of the same file system. Rejects with `unavailable` when its machine cannot be frozen, or
   * not long enough; `resource_exhausted` when the host's disk has no room for it.
   */
  copy(id: string, folder: string, signal: AbortSignal): Promise<SandboxCopy>;
  /** Packs a captured disk, which does not change, into a new folder. Returns the path; null when there is none. */
  packCapture(captureId: string, folder: string, signal: AbortSignal): Promise<string | null>;
  /** Packs the folder of an image, which does not change; the caller holds it. */
  packImage(image: { folder: string; sizeBytes: number }, target: string, signal: AbortSignal): Promise<void>;
  /** Compresses a file of the host, and removes it. */
  compress(file: string, target: string, signal: AbortSignal): Promise<void>;
}

interface Dependencies {
  layout: Layout;
  disks: DiskCopies;
  helpers: Helpers;
  work: Work;
  log: Log;
}

/** A backup is never urgent: running machines go first. */
const NICENESS = 10;
const FAILED = 'The sandbox could not be copied.';

export function createCopies({ layout, disks, helpers, work, log }: Dependencies): SandboxCopies {
  const patient = (signal: AbortSignal) => ({
    timeoutMs: limits.archiveHelperTimeoutMs,
    signal,
    nice: NICENESS,
  });

  /** Runs a program that may take its time. @param what Failure as a sentence. */
  async function idly(
    what: string,
    command: string[],
    { signal, accept = [0] }: { signal: AbortSignal; accept?: number[] },
  ): Promise<void> {
    try {
      await helpers.run('ionice', ['-c', '3', ...command], { ...patient(signal), accept });
    } catch (error) {
      throw toCallerError(error, what, log, {});
    }
  }

  async function pack(image: string, target: string, signal: AbortSignal): Promise<void> {
    const form = ['--create', '--sparse', '--format=gnu', '--use-compress-program', 'zstd --threads=0'];
    const files = ['--force-local', '--file', target, '--directory', dirname(image), 'disk.img'];
    await idly(FAILED, ['tar', ...form, ...files], { signal });
    await rm(image);
  }

  return {
    async copy(id, folder, signal) {
      await mkdir(folder, { mode: 0o700 });
      const image = join(folder, 'disk.img');
      const archive = join(folder, 'archive.tar.zst');
      const note = join(folder, 'archive.json');
      const copied = await work.inTurn(
        id,
        FAILED,
        async (either) => ({
          disk: await disks.copy(id, image, { signal: either, isUrgent: false }),
          archive: await isThere(link(layout.archive(id), archive)),
          note: await isThere(copyFile(layout.archiveNote(id), note)),
        }),
        signal,
      );
      const packed = join(folder, 'disk.tar.zst');
      if (copied.disk) await pack(image, packed, signal);
      return {
        disk: copied.disk ? packed : null,
        archive: copied.archive ? archive : null,
        archiveNote: copied.note ? note : null,
      };
    },

    async packCapture(captureId, folder, signal) {
      await mkdir(folder, { mode: 0o700 });
      const image = join(folder, 'disk.img');
      const held = await allocatedBytes(layout.capture(captureId));
      if (held === null) return null;
      if ((await freeDiskBytes(layout.captures)) - held < limits.backups.keptFreeBytes) throw noRoom();
      // Keeps it, whoever deletes the snapshot meanwhile.
      if (!(await isThere(link(layout.capture(captureId), image)))) return null;
      const packed = join(folder, 'disk.tar.zst');
      await pack(image, packed, signal);
      return packed;
    },

    async packImage({ folder, sizeBytes }, target, signal) {
      if ((await freeDiskBytes(layout.sandboxes)) - sizeBytes < limits.backups.keptFreeBytes) throw noRoom();
      const form = [
        '--create',
        '--format=posix',
        '--numeric-owner',
        '--acls',
        '--xattrs',
        '--xattrs-include=*',
      ];
      const files = ['--force-local', '--file', target, '--directory', dirname(folder), basename(folder)];
      const tar = ['tar', ...form, '--use-compress-program', 'zstd -1 --threads=0', ...files];
      // 1: a file changed. Its content never does; its links change when others take the same image from the cache.
      await idly('An image could not be packed.', tar, { signal, accept: [0, 1] });
    },

    async compress(file, target, signal) {
      const zstd = ['zstd', '--quiet', '--threads=0', '--rm', '-o', target, file];
      await idly('The rows could not be packed.', zstd, { signal });
    },
  };
}

async function isThere(work: Promise<void>): Promise<boolean> {
  return (await unlessMissing(work.then(() => true))) ?? false;
}

function noRoom(): SandhavenError {
  return new SandhavenError('resource_exhausted', "The host's disk has no room for the copies of a backup.", {
    hint: 'Delete or archive sandboxes that are not needed, or free other space, and try again.',
  });
}
