/**
 * Copies of a sandbox's files for a backup, made in the sandbox's turn: no start, stop or archive meanwhile. An archive
 * is never changed, so another link to it is a copy.
 *
 * Invariant: a copied disk is as after a cut of power at one moment, which its journal repairs; never of two moments.
 */
import { copyFile, link, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { waitUntilFree } from '../disk/loop-devices.ts';
import { toCallerError } from '../host/failures.ts';
import { unlessMissing } from '../host/files.ts';
import { HelperFailure, type Helpers } from '../host/helper.ts';
import { type Layout, LOOP_NOTE } from '../host/layout.ts';
import { allocatedBytes, freeDiskBytes } from '../host/room.ts';
import type { Work } from '../host/work.ts';
import type { Cgroups } from '../machine/cgroups.ts';
import type { Freezer } from '../machine/freezer.ts';
import type { Machines } from '../machine/running.ts';
import { FREEZE_STATUS, freezeAndCopy } from './freeze.ts';

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
  /** Packs the folder of an image, which does not change; the caller holds it. */
  packImage(image: { folder: string; sizeBytes: number }, target: string, signal: AbortSignal): Promise<void>;
  /** Compresses a file of the host, and removes it. */
  compress(file: string, target: string, signal: AbortSignal): Promise<void>;
}

interface Dependencies {
  layout: Layout;
  cgroups: Pick<Cgroups, 'freezers'>;
  freezer: Pick<Freezer, 'during'>;
  machines: Pick<Machines, 'running'>;
  helpers: Helpers;
  work: Work;
  log: Log;
}

/** A backup is never urgent: running machines go first. */
const NICENESS = 10;
const FAILED = 'The sandbox could not be copied.';

export function createCopies({
  layout,
  cgroups,
  freezer,
  machines,
  helpers,
  work,
  log,
}: Dependencies): SandboxCopies {
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

  /** Without the low priority of the rest: the machine stands still meanwhile. */
  async function copyRunning(
    id: string,
    generation: number,
    target: string,
    signal: AbortSignal,
  ): Promise<void> {
    const device = await readFile(join(layout.bundle(id, generation), LOOP_NOTE), 'utf8');
    const copy = {
      device: `/dev/${device.trim()}`,
      source: layout.disk(id),
      target,
      groups: cgroups.freezers(id),
      signal,
    };
    try {
      // The helper thaws by itself; one that was killed did not.
      await freezer.during(id, () => freezeAndCopy(helpers, copy));
    } catch (error) {
      throw error instanceof HelperFailure ? (refusal(error) ?? error) : error;
    }
  }

  async function copyDisk(id: string, target: string, signal: AbortSignal): Promise<boolean> {
    const disk = layout.disk(id);
    const held = await allocatedBytes(disk);
    if (held === null) return false;
    // The copy, and its packed form beside it.
    if ((await freeDiskBytes(layout.sandboxes)) - 2 * held < limits.backups.keptFreeBytes) throw noRoom();
    if ((await unlessMissing(stat(`${disk}.growing`))) !== null) throw grows();
    const machine = await machines.running(id);
    if (machine !== null) await copyRunning(id, machine.generation, target, signal);
    else {
      await waitUntilFree(disk);
      const cp = ['-c', '2', '-n', '7', 'cp', '--reflink=auto', '--sparse=always', disk, target];
      await helpers.run('ionice', cp, { ...patient(signal), lock: disk });
    }
    return true;
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
          disk: await copyDisk(id, image, either),
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

function refusal(error: HelperFailure): SandhavenError | null {
  const seconds = limits.backups.frozenMs / 1000;
  const details: Record<number, string> = {
    [FREEZE_STATUS.notFrozen]: 'Its processes could not be frozen.',
    [FREEZE_STATUS.tooLong]: `Its disk could not be copied within ${seconds} s, the longest pause of a running sandbox.`,
  };
  const detail = details[error.exitCode ?? -1];
  return detail === undefined
    ? null
    : new SandhavenError('unavailable', detail, { hint: 'Stop the sandbox, and take the backup again.' });
}

function grows(): SandhavenError {
  return new SandhavenError('unavailable', 'Its disk was being enlarged when the service ended.', {
    hint: 'Start the sandbox once, and take the backup again.',
  });
}

function noRoom(): SandhavenError {
  return new SandhavenError('resource_exhausted', "The host's disk has no room for the copies of a backup.", {
    hint: 'Delete or archive sandboxes that are not needed, or free other space, and try again.',
  });
}
