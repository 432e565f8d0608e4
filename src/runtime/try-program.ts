/** Runs a program of the host that leaves nothing behind, for checks such as `doctor`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { assertFilesLeft } from './start-program.ts';

const execute = promisify(execFile);

const TIMEOUT_MS = 5_000;
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Returns its standard output; null when the program is missing, fails, or takes longer than 5 s. */
export async function tryProgram(path: string, args: string[]): Promise<string | null> {
  try {
    assertFilesLeft();
    return (await execute(path, args, { timeout: TIMEOUT_MS, env })).stdout;
  } catch {
    return null;
  }
}
