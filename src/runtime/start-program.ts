/**
 * The one way to start a program. When this process is out of file descriptors, the child has no streams and reports
 * the failure by an event alone; so that event is awaited before anybody touches a stream.
 */
import { type ChildProcess, execFile, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

/** Both ends of three pipes, and of the pipe that reports a failed execution. */
const FILES_NEEDED = 8;
const TRIED_ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Child process with its piped streams. */
export interface StartedProgram<Input extends Writable | null> extends ChildProcess {
  stdin: Input;
  stdout: Readable;
  stderr: Readable;
}

/**
 * Resolves when the program runs, before it has written any output; its output and error streams are pipes. Rejects
 * with the system's error (`code` is EMFILE, ENOENT, EACCES, EAGAIN …) when it cannot be started.
 * @param input True to make its standard input a pipe; otherwise it is empty.
 * @param files Files of this process that it has too, from 3 on.
 */
export function startProgram(
  file: string,
  args: string[],
  options: Omit<SpawnOptions, 'stdio'> & { input: true; files?: readonly number[] },
): Promise<StartedProgram<Writable>>;
export function startProgram(
  file: string,
  args: string[],
  options?: Omit<SpawnOptions, 'stdio'>,
): Promise<StartedProgram<null>>;
export function startProgram(
  file: string,
  args: string[],
  {
    input = false,
    files = [],
    ...options
  }: Omit<SpawnOptions, 'stdio'> & { input?: boolean; files?: readonly number[] } = {},
): Promise<StartedProgram<Writable | null>> {
  return new Promise((resolve, reject) => {
    assertFilesLeft();
    const stdio: StdioOptions = [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...files];
    const child = spawn(file, args, { ...options, stdio });
    child.once('error', reject);
    child.once('spawn', () => {
      child.off('error', reject);
      resolve(child as StartedProgram<Writable | null>);
    });
  });
}

/**
 * Fails with EMFILE or ENFILE when no program could be started now. Node would fail too, and keep the handles of the
 * pipes that it could not open, which keep the process from ending.
 */
export function assertFilesLeft(): void {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_NEEDED) opened.push(openSync('/dev/null', 'r'));
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Returns true when this process, or the host, lacks a resource that starting a program needs. */
export function isOutOfHandles(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === 'EMFILE' || code === 'ENFILE' || code === 'EAGAIN' || code === 'ENOMEM';
}

/**
 * Runs a program of the host that leaves nothing behind, for checks such as `doctor`. Returns its standard output; null when the
 * program is missing, fails, or takes over 5 s.
 */
export function tryProgram(path: string, args: string[]): Promise<string | null> {
  return outputOf(path, args).catch(() => null);
}

/** Like `tryProgram`, but returns null when the program succeeds; otherwise its standard error, or the system's error. */
export async function refusalOfProgram(path: string, args: string[]): Promise<string | null> {
  return outputOf(path, args).then(
    () => null,
    (error: Error & { stderr?: string }) => error.stderr?.trim() || error.message,
  );
}

async function outputOf(path: string, args: string[]): Promise<string> {
  assertFilesLeft();
  return (await promisify(execFile)(path, args, { timeout: 5_000, env: TRIED_ENV })).stdout;
}
