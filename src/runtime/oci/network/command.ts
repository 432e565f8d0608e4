/** Runs one of the machine's network tools to its end. */
import { SandhavenError } from '../../../model/errors.ts';
import { startProgram } from '../../start-program.ts';

const timeoutMs = 20_000;
const stderrBytesKept = 4_096;

/**
 * @returns What it wrote to standard output.
 * @throws `unavailable` when it cannot be started, fails or takes over 20 s; the cause names the command and
 * what it said, for the log.
 */
export async function runCommand(command: string, args: string[], input = ''): Promise<string> {
  const failure = (reason: string) =>
    new SandhavenError(
      'unavailable',
      'The network of sandboxes could not be changed.',
      { hint: 'Run `sandhaven doctor` on the host, then try again.' },
      new Error(`${command} ${args.slice(0, 4).join(' ')}: ${reason}`),
    );
  const child = await startProgram(command, args, { input: true, timeout: timeoutMs }).catch((error) => {
    throw failure(error.message);
  });
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(failure(reason));
    const stdout: Buffer[] = [];
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-stderrBytesKept);
    });
    child.on('error', (error) => fail(error.message));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(stdout).toString());
      else fail(`${signal ?? `exit ${code}`}: ${stderr.trim()}`);
    });
    // A child that ends before it has read everything says so by its exit status.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
