/**
 * Captured disks: whole copies of disks, from which new disks are made. Each lies in a folder of its own and never changes.
 *
 * Invariant: a captured disk gets its name once it is whole and on the disk; what a killed capture left has another name.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import type { CapturedDisks, Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { captureIdPattern } from '../../../model/ids.ts';
import type { Archives } from '../disk/archives.ts';
import { copyImage } from '../disk/copy-image.ts';
import type { Disks } from '../disk/disks.ts';
import type { Trash } from '../disk/trash.ts';
import { toCallerError } from '../host/failures.ts';
import { commit, sync } from '../host/files.ts';
import type { Helpers } from '../host/helper.ts';
import type { Layout } from '../host/layout.ts';
import { allocatedBytes } from '../host/room.ts';
import type { Work } from '../host/work.ts';
import type { DiskCopies } from './disk-copies.ts';
import type { WhileStopped } from './storage.ts';

interface Dependencies {
  layout: Layout;
  copies: DiskCopies;
  disks: Pick<Disks, 'stage' | 'replace'>;
  whileStopped: WhileStopped;
  archives: Pick<Archives, 'restore'>;
  trash: Pick<Trash, 'take'>;
  work: Work;
  helpers: Helpers;
  log: Log;
}

const PARTIAL = '.partial';

export function createCaptures({
  layout,
  copies,
  disks,
  archives,
  trash,
  work,
  whileStopped,
  helpers,
  log,
}: Dependencies): CapturedDisks {
  /** Those that no row names yet: copies, and those of forks and steps. */
  const unnamed = new Set<string>();

  async function drop(captureId: string): Promise<void> {
    checkCaptureId(captureId);
    // One that cannot be removed now is collected.
    unnamed.delete(captureId);
    await trash.take(folderOf(captureId));
    await sync(layout.captures);
  }

  const folderOf = (captureId: string): string => `${layout.captures}/${captureId}`;

  return {
    drop,

    async capture(captureId, { id, archive }, options) {
      checkCaptureId(captureId);
      const image = layout.capture(captureId);
      const make = async (signal: AbortSignal): Promise<{ sizeBytes: number }> => {
        if (comesBeforeItsRow(captureId)) unnamed.add(captureId);
        await rm(folderOf(captureId), { recursive: true, force: true });
        await mkdir(folderOf(captureId), { mode: 0o700 });
        const fromDisk = await copies.copy(id, image + PARTIAL, { signal, isUrgent: true });
        if (fromDisk) await commit(image + PARTIAL, image);
        else if (archive !== null) await archives.restore(id, archive, { disk: image, signal });
        else throw new SandhavenError('unavailable', "The sandbox's disk is not there.");
        await sync(layout.captures);
        return { sizeBytes: (await allocatedBytes(image)) ?? 0 };
      };
      try {
        return await work.inTurn(id, "The sandbox's disk could not be captured.", make, options?.signal);
      } catch (error) {
        // One that is left is collected; the caller needs the first error.
        await drop(captureId).catch(() => {});
        throw error;
      }
    },

    async stage(id, captureId, options) {
      checkCaptureId(captureId);
      const copy = (signal: AbortSignal) => disks.stage(id, layout.capture(captureId), signal);
      await work.inTurn(id, 'The disk of the snapshot could not be copied.', copy, options?.signal);
    },

    async putBack(id, captureId, { diskGb, signal }) {
      checkCaptureId(captureId);
      const replace = (either: AbortSignal) => disks.replace(id, layout.capture(captureId), diskGb, either);
      await whileStopped(id, 'The disk could not be put back.', replace, signal);
    },

    async copy(captureId, to) {
      checkCaptureId(captureId);
      checkCaptureId(to);
      const [source, image] = [layout.capture(captureId), layout.capture(to)];
      unnamed.add(to);
      try {
        await mkdir(folderOf(to), { mode: 0o700 });
        await copyImage(helpers, { source, target: image + PARTIAL });
        await commit(image + PARTIAL, image);
        await sync(layout.captures);
        return { sizeBytes: (await allocatedBytes(image)) ?? 0 };
      } catch (error) {
        await drop(to).catch(() => {});
        throw toCallerError(error, 'The disk could not be copied.', log, { capture: to });
      }
    },

    release(captureId) {
      unnamed.delete(captureId);
    },

    async sizeOf(captureId) {
      checkCaptureId(captureId);
      return allocatedBytes(layout.capture(captureId));
    },

    async collect(named) {
      const found = await readdir(layout.captures);
      const wereUnnamed = new Set(unnamed);
      // Asked after the look: the row of a snapshot comes before its disk.
      const kept = await named();
      for (const captureId of found)
        if (!kept.has(captureId) && !wereUnnamed.has(captureId) && !unnamed.has(captureId))
          await drop(captureId);
    },
  };
}

const comesBeforeItsRow = (captureId: string): boolean => !captureId.startsWith('snap_');

/** Rejects anything but an id, since ids become names of folders. */
function checkCaptureId(captureId: string): void {
  if (!captureIdPattern.test(captureId)) throw new Error('this is not the id of a captured disk');
}
