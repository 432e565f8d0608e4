/**
 * Unpacks files of a backup whose manifest was verified. The kernel bounds the length of what a program writes, so that a
 * small file cannot become an endless one.
 */
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { notABackup } from '../../../backup/entry.ts';
import { GiB, limits } from '../../../model/limits.ts';
import { startProgram } from '../../../runtime/start-program.ts';

const DISK = 'disk.img';
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Makes the sandbox's folder with its disk. */
export async function unpackDisk(file: string, folder: string, signal: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const form = [
    '--extract',
    '--sparse',
    '--use-compress-program',
    'zstd',
    '--force-local',
    '--no-same-owner',
  ];
  const args = ['tar', ...form, '--file', file, '--directory', folder, DISK];
  await run(limits.diskGb.max * GiB, args, signal);
  const found = await lstat(join(folder, DISK));
  if (!found.isFile() || found.nlink !== 1) throw notABackup('a disk in it is not a file.');
  await rm(file);
}

export async function unpackRows(file: string, target: string, signal: AbortSignal): Promise<void> {
  const partial = `${target}.partial`;
  await run(limits.backups.rowsBytes, ['zstd', '--decompress', '--quiet', '-o', partial, file], signal);
  await rename(partial, target);
  await rm(file);
}

async function run(maxFileBytes: number, command: string[], signal: AbortSignal): Promise<void> {
  const args = [`--fsize=${maxFileBytes}`, 'nice', '-n', '10', ...command];
  const program = await startProgram('prlimit', args, { env, signal, killSignal: 'SIGKILL' });
  // Its pipes are emptied, or it would wait for a reader.
  program.stdout.resume();
  program.stderr.resume();
  const [code] = await new Promise<[number | null]>((resolve, reject) => {
    program.once('error', reject);
    program.once('close', (status) => resolve([status]));
  });
  signal.throwIfAborted();
  if (code !== 0) throw notABackup(`${command[0]} could not unpack a file of it.`);
}
