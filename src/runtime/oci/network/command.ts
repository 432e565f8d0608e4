/** Runs a network tool of the host to its end. */
import { SandhavenError } from '../../../model/errors.ts';
import { runProgram } from '../../programs/run-program.ts';

const timeoutMs = 20_000;
const stderrBytesKept = 4_096;

/**
 * @returns Its standard output.
 * @throws `unavailable` when it cannot be started, fails or takes over 20 s; the cause holds the command and its
 * standard error, for the log.
 */
export async function runCommand(command: string, args: string[], input = ''): Promise<string> {
  const failure = (reason: string) =>
    new SandhavenError(
      'unavailable',
      'The network of sandboxes could not be changed.',
      { hint: 'Run `sandhaven doctor` on the host, then try again.' },
      new Error(`${command} ${args.slice(0, 4).join(' ')}: ${reason}`),
    );
  const stdout: Buffer[] = [];
  let stderr = '';
  const running = runProgram(command, args, {
    env: process.env,
    input,
    onStdout: (piece) => stdout.push(piece),
    onStderr: (piece) => {
      stderr = (stderr + piece.toString()).slice(-stderrBytesKept);
    },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    running.kill();
  }, timeoutMs);
  const { code, signal } = await running.ended
    .catch((error) => {
      throw failure(error.message);
    })
    .finally(() => clearTimeout(timer));
  // The first rules after a boot load the kernel's modules, which a slow host may not finish in time.
  if (isLate) throw failure(`it had not ended after ${timeoutMs / 1_000} s`);
  if (code !== 0) throw failure(`${signal ?? `exit ${code}`}: ${stderr.trim()}`);
  return Buffer.concat(stdout).toString();
}
