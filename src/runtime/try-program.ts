/** Runs a program of the host that leaves nothing behind, for checks such as `doctor`. Each has 5 s. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { assertFilesLeft } from './start-program.ts';

const execute = promisify(execFile);

const TIMEOUT_MS = 5_000;
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Returns its standard output; null when the program is missing, fails, or takes too long. */
export function tryProgram(path: string, args: string[]): Promise<string | null> {
  return outputOf(path, args).catch(() => null);
}

/** Returns null when the program succeeds; otherwise what it has to say on standard error, or the system's error. */
export async function refusalOfProgram(path: string, args: string[]): Promise<string | null> {
  return outputOf(path, args).then(
    () => null,
    (error: Error & { stderr?: string }) => error.stderr?.trim() || error.message,
  );
}

async function outputOf(path: string, args: string[]): Promise<string> {
  assertFilesLeft();
  return (await execute(path, args, { timeout: TIMEOUT_MS, env })).stdout;
}
