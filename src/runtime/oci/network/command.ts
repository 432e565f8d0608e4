/** Runs one of the machine's network tools to its end. */
import { spawn } from 'node:child_process';
import { SandhavenError } from '../../../model/errors.ts';

const timeoutMs = 20_000;
const stderrBytesKept = 4_096;

/**
 * @returns What it wrote to standard output.
 * @throws `unavailable` when it cannot be started, fails or takes over 20 s; the cause names the command and
 * what it said, for the log.
 */
export function runCommand(command: string, args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: timeoutMs });
    const stdout: Buffer[] = [];
    let stderr = '';
    const fail = (reason: string) =>
      reject(
        new SandhavenError(
          'unavailable',
          'The network of sandboxes could not be changed.',
          { hint: 'Run `sandhaven doctor` on the host, then try again.' },
          new Error(`${command} ${args.slice(0, 4).join(' ')}: ${reason}`),
        ),
      );
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
