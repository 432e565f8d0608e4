/** Asks a program of the machine something that changes nothing, as `doctor` does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const TIMEOUT_MS = 5_000;

/** Its standard output; null when it is not there, fails, or takes longer than 5 s. */
export async function tryProgram(path: string, args: string[]): Promise<string | null> {
  return execute(path, args, { timeout: TIMEOUT_MS }).then(
    ({ stdout }) => stdout,
    () => null,
  );
}
