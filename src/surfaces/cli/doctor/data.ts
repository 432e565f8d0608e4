/** Checks the data directory: writable, private, and on a file system that can hold sandboxes' file systems. */
import { access, constants, readdir, realpath, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import type { Check, Finding } from './check.ts';

const ELSEWHERE = 'Give a directory on a disk of this machine with --data-dir (SANDHAVEN_DATA_DIR).';

/** File systems, by magic number, whose files cannot be shown to a sandbox under its own user ids. */
const unfit = new Map([
  [0x794c7630, 'an overlay, as the root of a container is'],
  [0x6969, 'NFS'],
  [0xff534d42, 'a Windows share'],
  [0x517b, 'a Windows share'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9p'],
  [0x858458f6, 'ramfs'],
]);

export function dataChecks(dataDir: string, facts: Pick<DoctorFacts, 'otherService'>): Check[] {
  return [{ name: 'data directory', neededByUp: true, run: () => dataDirectory(dataDir, facts) }];
}

export async function dataDirectory(
  dataDir: string,
  { otherService }: Pick<DoctorFacts, 'otherService'>,
): Promise<Finding> {
  const { path, exists } = await nearest(dataDir);
  const fail = (found: string, advice: string): Finding => ({ status: 'fail', found, advice });
  const found = await stat(path);
  if (!found.isDirectory()) return fail(`${path} is a file`, ELSEWHERE);
  const refused = await access(path, constants.W_OK).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (refused === 'EROFS') return fail(`${path} is on a file system that is read-only`, ELSEWHERE);
  if (refused !== null) return fail(`${path} cannot be written (${refused})`, ELSEWHERE);
  const kind = unfit.get((await statfs(path)).type);
  if (kind !== undefined) {
    const advice = `Sandboxes' file systems cannot be made on it. In a container, mount a volume there. ${ELSEWHERE}`;
    return fail(`${path} is on ${kind}`, advice);
  }
  if (exists && (found.mode & 0o077) !== 0 && (await readdir(path)).length > 0) {
    return fail(`other users can enter ${path}`, `Run: chmod 700 ${path} – or give another with --data-dir.`);
  }
  const other = exists ? otherService(await realpath(path)) : null;
  if (other !== null) return fail(other.found, other.advice);
  return { status: 'ok', found: exists ? path : `${dataDir}, to be made in ${path}` };
}

/** Returns the directory, or its nearest existing ancestor. */
async function nearest(path: string, exists = true): Promise<{ path: string; exists: boolean }> {
  const there = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return there || path === dirname(path) ? { path, exists } : nearest(dirname(path), false);
}
