/**
 * Unpacks files of a backup whose manifest was verified. It ends before the disk of this host is full, and the kernel
 * bounds the length of each file, so that a small file cannot become an endless one.
 */
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { notABackup } from '../../../backup/entry.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { GiB, limits } from '../../../model/limits.ts';
import { freeDiskBytes } from '../../../runtime/oci/host/room.ts';
import { startProgram } from '../../../runtime/start-program.ts';

const DISK = 'disk.img';
const LOOK_MS = 500;
const FORM = ['--extract', '--use-compress-program', 'zstd', '--force-local', '--numeric-owner'];
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Makes the folder of a sandbox, or of a captured disk, with the disk. */
export async function unpackDisk(file: string, folder: string, signal: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const args = [...FORM, '--sparse', '--no-same-owner', '--file', file, '--directory', folder, DISK];
  await run(['tar', ...args], { folder, maxFileBytes: limits.diskGb.max * GiB, signal });
  const found = await lstat(join(folder, DISK)).catch(() => null);
  if (!found?.isFile() || found.nlink !== 1) throw notABackup('a disk in it is not a file.');
  await rm(file);
}

/** Makes the image's folder among the others, as it was. */
export async function unpackImage(
  file: string,
  folder: string,
  digest: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = ['--same-owner', '--preserve-permissions', '--acls', '--xattrs', '--xattrs-include=*'];
  const args = [...FORM, ...kept, '--delay-directory-restore', '--file', file, '--directory', folder, digest];
  await run(['tar', ...args], { folder, maxFileBytes: limits.diskGb.max * GiB, signal });
  if (!(await lstat(join(folder, digest)).catch(() => null))?.isDirectory())
    throw notABackup('an image in it is not a folder.');
  await rm(file);
}

export async function unpackRows(file: string, target: string, signal: AbortSignal): Promise<void> {
  const partial = `${target}.partial`;
  const args = ['--decompress', '--quiet', '-o', partial, file];
  await run(['zstd', ...args], { folder: dirname(target), maxFileBytes: limits.backups.rowsBytes, signal });
  await rename(partial, target);
  await rm(file);
}

/** Makes all of it durable at once: an image has more files than could be synced one by one, and some are devices. */
export async function syncFileSystem(folder: string, signal: AbortSignal): Promise<void> {
  await run(['sync', '--file-system', folder], { folder, maxFileBytes: 0, signal });
}

interface Bounds {
  /** On the disk that is written to. */
  folder: string;
  maxFileBytes: number;
  signal: AbortSignal;
}

async function run(command: string[], { folder, maxFileBytes, signal }: Bounds): Promise<void> {
  const full = new AbortController();
  const timer = setInterval(async () => {
    const free = await freeDiskBytes(folder).catch(() => 0);
    if (free < limits.backups.keptFreeBytes) full.abort();
  }, LOOK_MS);
  try {
    const code = await exitOf(['prlimit', `--fsize=${maxFileBytes}`, 'nice', '-n', '10', ...command], {
      signal: AbortSignal.any([signal, full.signal]),
    });
    if (code !== 0 && !full.signal.aborted) throw notABackup(`${command[0]} cannot unpack a file of it.`);
  } finally {
    clearInterval(timer);
  }
  signal.throwIfAborted();
  if (full.signal.aborted) throw noRoom();
}

/** Returns null where a signal ended it. */
async function exitOf(args: string[], { signal }: { signal: AbortSignal }): Promise<number | null> {
  // Killed with this process: it would write on where the next restore begins.
  const program = await startProgram('setpriv', ['--pdeathsig', 'KILL', ...args], { env, detached: true });
  // The whole group ends: tar has a child that decompresses.
  const kill = () => void (program.pid && process.kill(-program.pid, 'SIGKILL'));
  signal.addEventListener('abort', kill);
  if (signal.aborted) kill();
  // Its pipes are emptied, or it would wait for a reader.
  program.stdout.resume();
  program.stderr.resume();
  try {
    return await new Promise((resolve) => program.once('close', resolve));
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

export function noRoom(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'The disk has no room for the backup.', {
    hint: 'Nothing was restored. Free space, or give a --data-dir on another disk.',
  });
}
