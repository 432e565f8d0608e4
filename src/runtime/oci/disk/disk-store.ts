/**
 * The store of disks where the data directory's own file system has no reflinks: a volume with XFS in one file of it. All folders
 * with disks lie in the volume, so a copy among them is a clone.
 *
 * Invariants: the file appears once it is formatted, and its presence alone says where disks lie. The mount outlives the service,
 * since machines do; the loop device goes with the last mount and the last machine.
 */
import { mkdir, open, readdir, rename, rm, rmdir, stat, statfs, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../concurrency/patience.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { DiskStoreOptions } from '../../../model/disk-store.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { GiB, limits } from '../../../model/limits.ts';
import { runProgram } from '../../programs/run-program.ts';
import { sync, unlessMissing } from '../host/files.ts';
import { HelperFailure, runLauncher } from '../host/helper.ts';
import { createLayout, volumeOf } from '../host/layout.ts';
import { diskSpace } from '../host/room.ts';
import { findDevice } from './loop-devices.ts';

/**
 * Makes the volume when it is asked for and missing, mounts it, and grows it. Comes before anything looks for disks. The caller
 * holds the lock of the data directory.
 * @throws `failed_precondition` before anything is changed: for a data directory with disks outside of a volume, for a smaller
 * size, and where mkfs.xfs is missing.
 */
export async function openDiskStore(
  dataDir: string,
  launcherPath: string,
  { kind, sizeGb }: DiskStoreOptions,
): Promise<void> {
  const { file, folder } = volumeOf(dataDir);
  const present = await unlessMissing(stat(file));
  if (present === null && kind === 'auto') return assertNoSize(sizeGb);
  if (present === null) await makeVolume(dataDir, sizeGb);
  else if (sizeGb !== null) await lengthen(file, present.size, sizeGb);
  await mountVolume(launcherPath, file, folder);
  if (await isLonger(file, folder)) await growVolume(folder);
}

/** Unmounts and removes the volume with all that is in it; a missing one is no error. */
export async function removeDiskStore(dataDir: string, log: Pick<Log, 'warn'>): Promise<void> {
  const { file, folder } = volumeOf(dataDir);
  await unmountDiskStore(dataDir);
  for (const path of [file, partial(file)]) await rm(path, { force: true });
  await rmdir(folder).catch(() => {});
  const deadline = performance.now() + limits.teardownStuckMs;
  for (const pauseMs of growingPauses(100)) {
    const device = await findDevice(file);
    if (device === null) return;
    if (performance.now() > deadline) {
      // A mount namespace of somebody else's may hold it as long as it likes.
      log.warn('the volume of disks is removed, and its loop device still in use', { device });
      return;
    }
    await sleep(pauseMs);
  }
}

/** Leaves the file. Whoever works in it still goes on, and the loop device with him. */
export async function unmountDiskStore(dataDir: string): Promise<void> {
  const { folder } = volumeOf(dataDir);
  while (await isMounted(dataDir, folder)) await unmount(folder);
}

async function isMounted(dataDir: string, folder: string): Promise<boolean> {
  const [inside, outside] = [await unlessMissing(stat(folder)), await unlessMissing(stat(dataDir))];
  return inside !== null && outside !== null && inside.dev !== outside.dev;
}

function assertNoSize(sizeGb: number | null): void {
  if (sizeGb === null) return;
  throw new SandhavenError(
    'failed_precondition',
    'There is no volume of disks that --disk-store-gb could size.',
    {
      hint: 'Give --disk-store xfs too, or leave --disk-store-gb out.',
    },
  );
}

async function makeVolume(dataDir: string, sizeGb: number | null): Promise<void> {
  const { file } = volumeOf(dataDir);
  // Without a volume its folders are those of the data directory.
  const outside = createLayout(dataDir, dataDir);
  await assertNoDisks(dataDir, [outside.sandboxes, outside.captures]);
  const gb = sizeGb ?? (await usualGb(dataDir));
  await rm(partial(file), { force: true });
  await formatVolume(partial(file), gb * GiB);
  for (const path of [outside.pool, outside.trash]) await rm(path, { recursive: true, force: true });
  await rename(partial(file), file);
  await sync(dataDir);
}

async function assertNoDisks(dataDir: string, folders: string[]): Promise<void> {
  const names = await Promise.all(folders.map((folder) => unlessMissing(readdir(folder))));
  if (names.every((found) => (found ?? []).length === 0)) return;
  throw new SandhavenError(
    'failed_precondition',
    `${dataDir} has disks of sandboxes already, which lie outside of a volume.`,
    {
      hint:
        'Nothing was changed. Start without --disk-store xfs; or take a backup (sandhaven backup DIR), stop the service, and ' +
        `restore it into a new data directory: sandhaven restore DIR --disk-store xfs --key-file ${join(dataDir, 'secret.key')} --data-dir NEW.`,
    },
  );
}

/** As large as the file system below it: both are watched, and the volume takes what is written. */
async function usualGb(dataDir: string): Promise<number> {
  const { min, max } = limits.disk.volumeGb;
  const { totalBytes } = await diskSpace(dataDir);
  return Math.min(max, Math.max(min, Math.floor(totalBytes / GiB)));
}

async function lengthen(file: string, presentBytes: number, sizeGb: number): Promise<void> {
  if (sizeGb * GiB < presentBytes) {
    const presentGb = Math.floor(presentBytes / GiB);
    throw new SandhavenError(
      'failed_precondition',
      `The volume of disks has ${presentGb} GB, and cannot become smaller: --disk-store-gb asks for ${sizeGb}.`,
      { hint: `Nothing was changed. Give --disk-store-gb ${presentGb} or more, or leave it out.` },
    );
  }
  await truncate(file, sizeGb * GiB);
  await sync(file);
}

/** Asks at each start: a growth may have been killed. The file system counts its journal and records out, much less than 1 GB. */
async function isLonger(file: string, folder: string): Promise<boolean> {
  const [{ size }, { blocks, bsize }] = [await stat(file), await statfs(folder)];
  return size - blocks * bsize >= GiB;
}

async function mountVolume(launcherPath: string, file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await runLauncher(launcherPath, ['mount-disk-store', file, folder], {
      timeoutMs: limits.diskHelperTimeoutMs,
    });
  } catch (error) {
    if (!(error instanceof HelperFailure)) throw error;
    const reason = error.stderr.trim().replace(/^sandhaven-launcher: /, '') || error.message;
    throw new SandhavenError(
      'failed_precondition',
      `The volume of disks ${file} cannot be used at ${folder}: ${reason}.`,
      {
        hint: "The kernel's log has its reason (dmesg). It needs the file system xfs (modprobe xfs), loop devices, and nothing else mounted there.",
      },
      error,
    );
  }
}

const partial = (file: string): string => `${file}.partial`;

// Programs that format, grow and unmount the volume of disks. They run before the fence is there, and nothing depends on when they end.

/**
 * Sectors of 4096 bytes, since the loop device has blocks of that size. A journal of one size, whatever the volume's, all of which
 * is written now. Nothing is to be discarded in a new file.
 */
const MKFS = [
  ...['-q', '-K'],
  ...['-m', 'crc=1,reflink=1'],
  ...['-s', 'size=4096'],
  ...['-l', `size=${limits.disk.volumeLogMb}m`],
];

/** Makes the file, sparse but for the journal, and durable. */
export async function formatVolume(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  await handle.truncate(bytes).finally(() => handle.close());
  await run('mkfs.xfs', [...MKFS, file]);
  await sync(file);
}

/** Grows the file system to the size of its device. */
export async function growVolume(folder: string): Promise<void> {
  await run('xfs_growfs', ['-d', folder]);
}

/** Takes the mount away even while somebody works in it; the kernel ends it with its last user. */
export async function unmount(folder: string): Promise<void> {
  await run('umount', ['--lazy', folder]);
}

async function run(program: string, args: string[]): Promise<void> {
  let stderr = '';
  const running = runProgram(program, args, {
    env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`, LC_ALL: 'C' },
    onStdout() {},
    onStderr(piece) {
      stderr = (stderr + piece.toString()).slice(-STDERR_CHARS);
    },
  });
  const timer = setTimeout(running.kill, limits.diskHelperTimeoutMs);
  const { code, signal } = await running.ended
    .catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? missing(program) : error;
    })
    .finally(() => clearTimeout(timer));
  if (code === 0) return;
  throw new SandhavenError(
    'failed_precondition',
    `${program} failed on the volume of disks: ${stderr.trim() || `it ended with ${code ?? signal}`}`,
    { hint: 'Free space on the disk of the data directory, or see dmesg, and start again.' },
  );
}

const STDERR_CHARS = 1_000;

function missing(program: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The program ${program} is not on this machine.`, {
    hint: 'On Debian and Ubuntu: apt install xfsprogs. Elsewhere the package has that name too. Or start without --disk-store xfs.',
  });
}
