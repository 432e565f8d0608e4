/**
 * Disks: sparse ext4 images, one per sandbox, with the overlay's `upper` and `work` in them, and `spare`
 * (native/launcher/src/spare.rs). Ids on a disk count from 0; `work` belongs to 65536, which is host root when
 * it is mounted (native/launcher/src/mounts/idmap.rs).
 *
 * Invariants: a disk is completed under another name and then renamed; it changes only while no loop device uses it.
 */
import { chown, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { randomText } from '../../../model/ids.ts';
import { GiB, limits } from '../../../model/limits.ts';
import { describeFailure } from '../host/failures.ts';
import { commit, isMissing, removeDurably, sync, unlessMissing } from '../host/files.ts';
import { HelperFailure, type Helpers } from '../host/helper.ts';
import type { Layout } from '../host/layout.ts';
import { copyImage } from './copy-image.ts';
import { waitUntilFree } from './loop-devices.ts';

export interface Disks {
  /** Removes disks that earlier boots left half-made, and begins to fill the pool. */
  init(): Promise<void>;
  has(id: string): Promise<boolean>;
  /**
   * Makes a disk for the sandbox, unless it has one.
   * @param options `from`: an image that it begins as a copy of, grown to that size; an empty disk by default.
   */
  ensure(
    id: string,
    diskGb: number,
    options?: { from?: string | undefined; signal?: AbortSignal },
  ): Promise<void>;
  /** Copies an image beside the sandbox's disk, which may be in use, for `replace`. */
  stage(id: string, from: string, signal: AbortSignal): Promise<void>;
  /**
   * Gives the sandbox the copy that `stage` has made in place of its disk, or else a new copy of that image, grown as `grow` does
   * before it takes the place.
   */
  replace(id: string, from: string, diskGb: number, signal: AbortSignal): Promise<void>;
  /** Grows the disk to exactly `diskGb`, unless it is that large already. Finishes an interrupted growth. */
  grow(id: string, diskGb: number): Promise<void>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

export function createDisks(layout: Layout, helpers: Helpers, log: Log): Disks {
  const seed = join(layout.pool, 'seed');
  const closing = new AbortController();
  let refilling: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const make = (path: string, diskGb: number, signal?: AbortSignal): Promise<void> =>
    makeDisk(helpers, seed, path, diskGb, signal);

  function refill(): void {
    if (closing.signal.aborted) return;
    refilling ??= fillPool(layout.pool, make, closing.signal)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) {
          log.warn('the pool of disks could not be filled', { reason: describeFailure(error) });
        }
      })
      .finally(() => {
        refilling = null;
      });
  }

  /** Lets a start that took a disk go first: making another competes with it for processor and journal. */
  function refillLater(): void {
    clearTimeout(timer);
    timer = setTimeout(refill, REFILL_DELAY_MS).unref();
  }

  async function copyTo(path: string, from: string, signal?: AbortSignal, diskGb = 0): Promise<void> {
    if ((await unlessMissing(stat(from))) === null) throw captureGone();
    const partial = path + PARTIAL;
    await removeCopy(partial);
    await copyImage(helpers, { source: from, target: partial, signal });
    await growTo(partial, diskGb);
    await commit(partial, path);
  }

  async function growTo(path: string, diskGb: number): Promise<void> {
    await repairIfGrowing(helpers, path);
    if ((await fileSystemBytes(path)) < diskGb * GiB) await growDisk(helpers, path, diskGb);
  }

  return {
    async init() {
      for (const folder of ['upper', 'work', 'spare']) {
        await mkdir(join(seed, folder), { recursive: true, mode: 0o755 });
      }
      await chown(join(seed, 'work'), OVERLAY_OWNER, OVERLAY_OWNER);
      await spread(layout.sandboxes, helpers);
      for (const name of await readdir(layout.pool)) {
        if (name.endsWith(PARTIAL)) await rm(join(layout.pool, name));
      }
      refill();
    },

    has: async (id) => (await unlessMissing(stat(layout.disk(id)))) !== null,

    async ensure(id, diskGb, { from, signal } = {}) {
      const path = layout.disk(id);
      // Left by a rollback that was killed before its operation was stored.
      await removeCopy(staged(path));
      if (await unlessMissing(stat(path))) return repairIfGrowing(helpers, path);
      if (from !== undefined) return copyTo(path, from, signal, diskGb);
      if (diskGb === limits.diskGb.default && (await takeFromPool(layout.pool, path))) return refillLater();
      await make(path, diskGb, signal);
    },

    async stage(id, from, signal) {
      await mkdir(layout.sandbox(id), { recursive: true, mode: 0o700 });
      await removeCopy(staged(layout.disk(id)));
      await copyTo(staged(layout.disk(id)), from, signal);
    },

    async replace(id, from, diskGb, signal) {
      const path = layout.disk(id);
      if ((await unlessMissing(stat(staged(path)))) === null) await copyTo(staged(path), from, signal);
      await growTo(staged(path), diskGb);
      await waitUntilFree(path);
      await rm(growing(path), { force: true });
      await commit(staged(path), path);
    },

    async grow(id, diskGb) {
      const path = layout.disk(id);
      await waitUntilFree(path);
      await growTo(path, diskGb);
    },

    async remove(id) {
      const path = layout.disk(id);
      await waitUntilFree(path);
      await rm(growing(path), { force: true });
      for (const left of [path + PARTIAL, staged(path) + PARTIAL, staged(path)]) await removeCopy(left);
      await removeDurably(path);
    },

    async close() {
      closing.abort();
      clearTimeout(timer);
      await refilling;
    },
  };
}

/** On-disk owner of `work`: mapped to host root, the user as which overlayfs works. */
const OVERLAY_OWNER = 65_536;
const BLOCK_BYTES = 4096;
const PARTIAL = '.partial';
const READY = /^ready-[0-9a-z]+\.img$/;

const REFILL_DELAY_MS = 200;

/** Copy of a captured disk that is about to take the disk's place. */
const staged = (path: string): string => `${path}.staged`;

async function removeCopy(path: string): Promise<void> {
  for (const left of [growing(path), path]) await rm(left, { force: true });
}

/** Marker file of a growth in progress: if it outlives its helper, the file system may be inconsistent. */
const growing = (path: string): string => `${path}.growing`;

function captureGone(): SandhavenError {
  return new SandhavenError('not_found', 'The disk of the snapshot is gone: it was deleted meanwhile.', {
    hint: 'Call Sandbox.ListSnapshots to see the ones there are.',
  });
}

async function makeDisk(
  helpers: Helpers,
  seed: string,
  path: string,
  diskGb: number,
  signal?: AbortSignal,
): Promise<void> {
  const partial = path + PARTIAL;
  await rm(partial, { force: true });
  await helpers.run('mke2fs', [...MKE2FS, '-d', seed, partial, `${diskGb}G`], {
    timeoutMs: limits.diskHelperTimeoutMs,
    signal,
    env: UNSEARCHED,
  });
  await commit(partial, path);
}

/**
 * Keeps mke2fs from searching the host's list of mounts for its file: the list has two entries for each machine, and among a
 * thousand the search took half of the time. The variable is for e2fsprogs' own tests, and calls the file mounted; with two `-F`
 * mke2fs goes on. A version that does not know the variable searches.
 */
const UNSEARCHED = { EXT2FS_PRETEND_RO_MOUNT: '1' };

/**
 * No reserved blocks (the whole disk is the machine's), a journal too small to matter for thin images, and a table of
 * groups with room to grow to the largest disk: by default it could grow a thousandfold, and those 4 MB of each fresh
 * disk take more than half of the time.
 */
const MKE2FS = [
  '-q',
  ...['-F', '-F'],
  ...['-t', 'ext4'],
  ...['-b', String(BLOCK_BYTES)],
  ...['-m', '0'],
  ...['-I', '256'],
  ...['-i', String(limits.diskBytesPerInode)],
  ...['-J', `size=${limits.diskJournalMb}`],
  ...['-E', `lazy_journal_init=1,resize=${((limits.diskGb.max + 1) * GiB) / BLOCK_BYTES}`],
];

/**
 * Gives the sandbox a ready disk; returns false when the pool has none. The caller's start makes the name durable:
 * it syncs the sandbox's folder while the machine launches.
 */
async function takeFromPool(pool: string, path: string): Promise<boolean> {
  for (const name of await readdir(pool)) {
    if (!READY.test(name)) continue;
    try {
      await rename(join(pool, name), path);
      return true;
    } catch (error) {
      // Another start took it first.
      if (!isMissing(error)) throw error;
    }
  }
  return false;
}

async function fillPool(
  pool: string,
  make: (path: string, diskGb: number, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const ready = (await readdir(pool)).filter((name) => READY.test(name)).length;
    if (ready >= limits.diskPool) return;
    await make(join(pool, `ready-${randomText(12)}.img`), limits.diskGb.default, signal);
  }
}

async function growDisk(helpers: Helpers, path: string, diskGb: number): Promise<void> {
  const options = { timeoutMs: limits.diskHelperTimeoutMs, lock: path };
  await helpers.run('e2fsck', ['-f', '-p', path], { ...options, accept: E2FSCK_SOUND });
  await writeFile(growing(path), '');
  await sync(dirname(path));
  await helpers.run('resize2fs', [path, `${diskGb}G`], options);
  await sync(path);
  await removeDurably(growing(path));
}

/**
 * Repairs the bookkeeping of a killed growth. e2fsck may answer yes to every question: the file system was checked
 * before, and growing moves no data.
 */
async function repairIfGrowing(helpers: Helpers, path: string): Promise<void> {
  if ((await unlessMissing(stat(growing(path)))) === null) return;
  await helpers.run('e2fsck', ['-f', '-y', path], {
    timeoutMs: limits.diskHelperTimeoutMs,
    lock: path,
    accept: E2FSCK_SOUND,
  });
  await sync(path);
  await removeDurably(growing(path));
}

/** Exit codes of a sound or repaired file system. */
const E2FSCK_SOUND = [0, 1];

/** Returns the size in the superblock, which a growth changes last; the file may be longer. */
async function fileSystemBytes(path: string): Promise<number> {
  const superblock = Buffer.alloc(1024);
  const handle = await open(path, 'r');
  try {
    await handle.read(superblock, 0, superblock.length, 1024);
  } finally {
    await handle.close();
  }
  const blocks = superblock.readUInt32LE(0x150) * 2 ** 32 + superblock.readUInt32LE(0x4);
  return blocks * BLOCK_BYTES;
}

/**
 * Gives each new folder in this one a group of its own, where the file system has that attribute (chattr(1), `T`: "the
 * subdirectories are not related"). Without it, ext4 keeps the files of all these folders together, and looks for a free inode
 * from the start of their group. It passes over each deleted inode for one to five minutes, again for each new file: after some
 * hundred deletions, this took a quarter of a creation.
 */
export async function spread(folder: string, helpers: Pick<Helpers, 'run'>): Promise<void> {
  try {
    await helpers.run('chattr', ['+T', folder], { timeoutMs: limits.diskHelperTimeoutMs });
  } catch (error) {
    if (!(error instanceof HelperFailure)) throw error;
  }
}
