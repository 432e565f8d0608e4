/** Programs that format, grow and unmount the volume of disks. They run before the fence is there, and nothing depends on when they end. */
import { open } from 'node:fs/promises';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { runProgram } from '../../programs/run-program.ts';
import { sync } from '../host/files.ts';

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
