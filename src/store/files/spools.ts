/** Spools: files without a name in the data directory, whose room the kernel frees with the process. */
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenSpool } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { randomText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';

const PIECE_BYTES = 256 * 1024;

export function spoolsIn(dataDir: string): OpenSpool {
  const folder = join(dataDir, 'spools');
  /** Empties it once: an earlier process was killed between the next two steps. */
  let emptied: Promise<void> | null = null;
  return async () => {
    emptied ??= rm(folder, { recursive: true, force: true });
    await emptied;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < limits.build.contextBytes + limits.backups.keptFreeBytes) throw noRoom();
    const path = join(folder, randomText(16));
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    let end = 0;
    return {
      async write(bytes) {
        try {
          for (let at = 0; at < bytes.length; )
            at += (await file.write(bytes, at, bytes.length - at, end + at)).bytesWritten;
        } catch (error) {
          throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noRoom() : error;
        }
        end += bytes.length;
      },
      async *read(at, length) {
        for (let read = 0; read < length; ) {
          const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, length - read));
          const { bytesRead } = await file.read(piece, 0, piece.length, at + read);
          if (bytesRead === 0) throw new Error('the spool is shorter than what is read of it');
          read += bytesRead;
          yield piece.subarray(0, bytesRead);
        }
      },
      close: () => file.close(),
    };
  };
}

function noRoom(): SandhavenError {
  return new SandhavenError('resource_exhausted', "The host's disk has no room for the files of the build.", {
    hint: 'Leave out what the build does not need with a .dockerignore, or free space on the host.',
  });
}
