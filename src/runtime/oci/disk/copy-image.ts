/** Copies of disk images, as clones where the file system has them. */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { copyFile, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../host/files.ts';
import type { Helpers } from '../host/helper.ts';
import { disksFolder } from '../host/layout.ts';
import { allocatedBytes, freeDiskBytes } from '../host/room.ts';

/**
 * Copies a disk image: where the file system has reflinks the copy shares its blocks until one of both changes (cp(1),
 * `--reflink`), elsewhere it is a sparse copy of its own.
 */
export async function copyImage(
  helpers: Helpers,
  {
    source,
    target,
    signal,
    lock,
  }: { source: string; target: string; signal?: AbortSignal | undefined; lock?: string },
): Promise<void> {
  await rm(target, { force: true });
  if (await isCloned(source, target)) return;
  await assertRoomForCopy(dirname(source), (await allocatedBytes(source)) ?? 0);
  const options = {
    timeoutMs: limits.archiveHelperTimeoutMs,
    signal,
    ...(lock === undefined ? {} : { lock }),
  };
  await helpers.run('cp', ['--reflink=never', '--sparse=always', source, target], options);
}

/** Rejects with `resource_exhausted` where the host's disk would keep too little room beside a copy of so many bytes. */
export async function assertRoomForCopy(folder: string, bytes: number): Promise<void> {
  if ((await freeDiskBytes(folder)) - bytes < limits.backups.keptFreeBytes) throw noRoom();
}

/** Without a process, which would take longer than the clone. Source: ioctl_ficlone(2), which needs one file system. */
async function isCloned(source: string, target: string): Promise<boolean> {
  try {
    await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    if (!NO_CLONES.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await rm(target, { force: true });
    return false;
  }
}

/** Disks of a data directory, which may not be there yet; `clones` is null where that cannot be found out. */
export async function examineDisks(
  dataDir: string,
): Promise<{ folder: string; freeBytes: number; clones: boolean | null }> {
  const folder = disksFolder(dataDir);
  let present = folder;
  while ((await unlessMissing(stat(present))) === null) present = dirname(present);
  // The volume has them, also while nobody has mounted it.
  const clones = folder === dataDir ? await hasClones(present) : true;
  return { folder, freeBytes: await freeDiskBytes(present), clones };
}

/** Tries it with two files without names, of which nothing is left however this ends. */
async function hasClones(folder: string): Promise<boolean | null> {
  const files = await Promise.all([openUnnamed(folder), openUnnamed(folder)]).catch(() => null);
  if (files === null) return null;
  try {
    const [source, target] = files.map(({ fd }) => `/proc/self/fd/${fd}`) as [string, string];
    await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    return NO_CLONES.has((error as NodeJS.ErrnoException).code ?? '') ? false : null;
  } finally {
    for (const file of files) await file.close();
  }
}

const openUnnamed = (folder: string): Promise<FileHandle> =>
  open(folder, constants.O_RDWR | O_TMPFILE, 0o600);

/** Source: openat(2); Node does not name it. With the flag of directories, as the kernel wants it. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

const NO_CLONES: ReadonlySet<string> = new Set([
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EXDEV',
  'EINVAL',
  'ENOTTY',
]);

function noRoom(): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    "The host's disk has no room for a copy of the sandbox's disk.",
    {
      hint: 'Delete or archive sandboxes that are not needed, or free other space, and try again.',
    },
  );
}
