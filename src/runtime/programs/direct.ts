/** Runs programs as children of this process. Its fork takes longer the more memory the process has. */
import { startProgram } from '../start-program.ts';
import type { ProgramEnd, ProgramOptions, Runner } from './runner.ts';

export const direct: Runner = {
  run(file, args, options) {
    let pid: number | undefined;
    let killed = false;
    const kill = (): void => {
      killed = true;
      if (pid !== undefined) killGroup(pid);
    };
    const started = (id: number | undefined): void => {
      pid = id;
      if (killed) kill();
    };
    const ended = runProgram(file, args, options, started).finally(() => {
      pid = undefined;
    });
    return { ended, kill };
  },
};

async function runProgram(
  file: string,
  args: string[],
  { env, input, onStdout, onStderr }: ProgramOptions,
  started: (pid: number | undefined) => void,
): Promise<ProgramEnd> {
  const child = await startProgram(file, args, { env, detached: true, input: true });
  const closed = new Promise<ProgramEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  started(child.pid);
  child.stdout.on('data', onStdout);
  child.stderr.on('data', onStderr);
  // A program that ends before it has read all input reports that by its exit status.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return closed;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
