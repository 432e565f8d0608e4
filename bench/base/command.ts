/** Runs a program to its end. */
import { spawn } from 'node:child_process';

interface Options {
  env?: NodeJS.ProcessEnv;
  /** Drops its output instead of keeping it. */
  discard?: boolean;
}

/** Resolves with its standard output, trimmed; rejects with its standard error when the exit status is not 0. */
export function run(
  program: string,
  args: string[],
  { env, discard = false }: Options = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(env ? { env } : {}),
      stdio: ['ignore', discard ? 'ignore' : 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(stdout.trim());
      else reject(new Error(`${program} ${args.join(' ')}: ${signal ?? code}\n${stderr.trim()}`));
    });
  });
}
