/**
 * Helper programs (mke2fs, tar, runc …), all started through the launcher, so that each is inside the fence and
 * holds the lock of the disk it works on. Each has a time limit and a bound on what it may say; whatever way it
 * ends, its whole process group ends with it.
 */
import { createInterface } from 'node:readline';
import { limits } from '../../model/limits.ts';
import { type StartedProgram, startProgram } from '../start-program.ts';
import { canceled } from './canceled.ts';

export interface HelperOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Exit codes that are no failure; 0 alone by default. */
  accept?: number[];
  /** Beside the little that every helper gets. */
  env?: Record<string, string> | undefined;
  /** Told each line of standard output as it comes. */
  onLine?: ((line: string) => void) | undefined;
}

/** How a helper failed. For the log and for decisions here; callers of the service never see it. */
export class HelperFailure extends Error {
  readonly program: string;
  /** null when it was ended by a signal. */
  readonly exitCode: number | null;
  readonly stderr: string;
  /** "took over …", "ended with …" */
  readonly why: string;

  constructor(program: string, exitCode: number | null, stderr: string, why: string, cause?: unknown) {
    super(`${program} ${why}`, cause === undefined ? undefined : { cause });
    this.name = 'HelperFailure';
    this.program = program;
    this.exitCode = exitCode;
    this.stderr = stderr;
    this.why = why;
  }
}

/** Exit statuses of the launcher itself (native/launcher/src/failure.rs). */
export const launcherStatus = { noSpace: 121, locked: 122 } as const;

/** Starts the launcher with these arguments and waits; resolves with what was written to standard output. */
export async function runLauncher(
  launcherPath: string,
  args: string[],
  options: HelperOptions,
): Promise<string> {
  if (options.signal?.aborted) throw canceled();
  const program = programName(args);
  const child = await startProgram(launcherPath, args, {
    detached: true,
    env: { ...options.env, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  }).catch((cause: Error) => {
    throw new HelperFailure(program, null, '', cause.message, cause);
  });
  return outputOf(child, program, options);
}

/** Waits for its end, and brings it about when the time is over or the caller has given up. */
function outputOf(
  child: StartedProgram<null>,
  program: string,
  { timeoutMs, signal, accept = [0], onLine }: HelperOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let ended: 'timeout' | 'canceled' | null = null;
    const end = (why: 'timeout' | 'canceled'): void => {
      ended ??= why;
      killGroup(child.pid);
    };
    const onAbort = (): void => end('canceled');
    const timer = setTimeout(() => end('timeout'), timeoutMs);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    const stdout = bounded(child.stdout);
    if (onLine) createInterface({ input: child.stdout }).on('line', onLine);
    const stderr = bounded(child.stderr);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      act();
    };
    child.on('error', (cause) => settle(() => reject(new HelperFailure(program, null, '', cause.message))));
    child.on('close', (code) =>
      settle(() => {
        if (ended === 'canceled') reject(canceled());
        else if (ended) reject(new HelperFailure(program, null, stderr(), `took over ${timeoutMs} ms`));
        else if (code !== null && accept.includes(code)) resolve(stdout());
        else reject(new HelperFailure(program, code, stderr(), `ended with ${code ?? 'a signal'}`));
      }),
    );
  });
}

export interface Helpers {
  run(
    program: string,
    args: string[],
    options: HelperOptions & { lock?: string; nice?: number },
  ): Promise<string>;
}

export function createHelpers(launcherPath: string, fenceFiles: () => string[]): Helpers {
  return {
    run(program, args, { lock, nice, ...options }) {
      const fence = fenceFiles().flatMap((file) => ['--cgroup', file]);
      const lockArgs = lock === undefined ? [] : ['--lock', lock];
      const niceArgs = nice === undefined ? [] : ['--nice', String(nice)];
      const command = ['exec', ...fence, ...lockArgs, ...niceArgs, '--', program, ...args];
      return runLauncher(launcherPath, command, options);
    },
  };
}

function programName(args: string[]): string {
  const separator = args.indexOf('--');
  return separator < 0 ? (args[0] ?? 'launcher') : (args[separator + 1] ?? 'launcher');
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Keeps the first bytes and reads on, so that a talkative program neither fills memory nor stalls. */
function bounded(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, limits.helperOutputBytes - size);
    if (kept.length > 0) chunks.push(kept);
    size += kept.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
