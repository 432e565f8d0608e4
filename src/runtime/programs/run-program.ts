/**
 * Runs a program to its end, through the spawner once the runtime has one, or sends messages to the firewall without a program. One
 * runner serves the whole process.
 */
import { startProgram } from '../start-program.ts';

export interface ProgramOptions {
  env: NodeJS.ProcessEnv;
  /** Standard input; empty by default. */
  input?: string | undefined;
  /** Receives every piece as it arrives. A caller that keeps pieces bounds them. */
  onStdout(piece: Buffer): void;
  onStderr(piece: Buffer): void;
}

/** End of a program: exactly one of the two is not null. */
export interface ProgramEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProgram {
  /**
   * Resolves when the program has ended and all its output was passed on. Rejects with the system's error (`code` is
   * EMFILE, ENOENT, EACCES, EAGAIN …) when it cannot be started.
   */
  ended: Promise<ProgramEnd>;
  /** Kills the program and its whole process group; does nothing after its end. */
  kill(): void;
}

/** This process itself, or the spawner for it (`spawner.ts`). */
export interface Runner {
  /** @param file Absolute path, or a name to search in the PATH of `env`. */
  run(file: string, args: string[], options: ProgramOptions): RunningProgram;
  /**
   * Sends netfilter's messages, a batch of changes or one question, of which the last asks for an answer; resolves to the
   * messages that the kernel answers. Rejects with the system's error when it refuses one; nothing of a batch is in force then.
   * Absent where only programs can do it.
   */
  netfilter?(messages: Buffer): Promise<Buffer>;
}

/** The spawner; null where programs are children of this process. */
let runner: Runner | null = null;

/** Runs all later programs through this runner; null for this process itself. */
export function useRunner(other: Runner | null): void {
  runner = other;
}

export function runProgram(file: string, args: string[], options: ProgramOptions): RunningProgram {
  return (runner ?? direct).run(file, args, options);
}

/** Sends netfilter's messages and resolves to the kernel's answers; null where the runner cannot, and a program has to. */
export function sendNetfilter(messages: Buffer): Promise<Buffer> | null {
  return runner?.netfilter?.(messages) ?? null;
}

/** Runs programs as children of this process. Its fork takes longer the more memory the process has. */
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
    const ended = runHere(file, args, options, started).finally(() => {
      pid = undefined;
    });
    return { ended, kill };
  },
};

async function runHere(
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
