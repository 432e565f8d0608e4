/**
 * Helper programs (mke2fs, tar, runc …), all started through the launcher, so that each is inside the fence and
 * holds the lock of the disk it works on. Each has a timeout and a bound on its output; however it ends, its
 * whole process group ends with it.
 */
import { canceled } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { type ProgramEnd, type RunningProgram, runProgram } from '../../programs/run-program.ts';

export interface HelperOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Exit codes that count as success; 0 alone by default. */
  accept?: number[];
  /** Env vars beside PATH and LC_ALL, which every helper gets. */
  env?: Record<string, string> | undefined;
  /** Receives each line of standard output as it arrives. */
  onLine?: ((line: string) => void) | undefined;
}

/** Failure of a helper, for the log and for decisions in the runtime; callers of the service never see it. */
export class HelperFailure extends Error {
  readonly program: string;
  /** null when a signal ended it. */
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

/** Runs the launcher with these arguments to its end; resolves to its standard output. */
export async function runLauncher(
  launcherPath: string,
  args: string[],
  options: HelperOptions,
): Promise<string> {
  if (options.signal?.aborted) throw canceled();
  const program = programName(args);
  const stdout = bounded();
  const stderr = bounded();
  const inLines = linesTo(options.onLine ?? (() => {}));
  const running = runProgram(launcherPath, args, {
    env: { ...options.env, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    onStdout: (piece) => {
      stdout.add(piece);
      inLines(piece);
    },
    onStderr: stderr.add,
  });
  const { end, why } = await endOf(running, options).catch((cause: Error) => {
    throw new HelperFailure(program, null, '', cause.message, cause);
  });
  if (why === 'canceled') throw canceled();
  if (why) throw new HelperFailure(program, null, stderr.text(), `took over ${options.timeoutMs} ms`);
  const { code } = end;
  if (code !== null && (options.accept ?? [0]).includes(code)) return stdout.text();
  throw new HelperFailure(program, code, stderr.text(), `ended with ${code ?? 'a signal'}`);
}

/** Waits for the program's end. Kills it after the timeout or when the caller cancels; `why` holds which of the two. */
async function endOf(
  running: RunningProgram,
  { timeoutMs, signal }: Pick<HelperOptions, 'timeoutMs' | 'signal'>,
): Promise<{ end: ProgramEnd; why: 'timeout' | 'canceled' | null }> {
  let why: 'timeout' | 'canceled' | null = null;
  const stop = (reason: 'timeout' | 'canceled'): void => {
    why ??= reason;
    running.kill();
  };
  const onAbort = (): void => stop('canceled');
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  signal?.addEventListener('abort', onAbort);
  try {
    return { end: await running.ended, why };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

export interface Helpers {
  run(
    program: string,
    args: string[],
    options: HelperOptions & { lock?: string; nice?: number },
  ): Promise<string>;
}

export function createHelpers(launcherPath: string, fenceArguments: () => string[]): Helpers {
  return {
    run(program, args, { lock, nice, ...options }) {
      const lockArgs = lock === undefined ? [] : ['--lock', lock];
      const niceArgs = nice === undefined ? [] : ['--nice', String(nice)];
      const command = ['exec', ...fenceArguments(), ...lockArgs, ...niceArgs, '--', program, ...args];
      return runLauncher(launcherPath, command, options);
    },
  };
}

function programName(args: string[]): string {
  const separator = args.indexOf('--');
  return separator < 0 ? (args[0] ?? 'launcher') : (args[separator + 1] ?? 'launcher');
}

/** Keeps the first bytes and drops the rest, so that a verbose program does not fill memory. */
function bounded(): { add(piece: Buffer): void; text(): string } {
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    add(piece) {
      const kept = piece.subarray(0, Math.max(limits.helperOutputBytes - size, 0));
      if (kept.length > 0) pieces.push(Buffer.from(kept));
      size += kept.length;
    },
    text: () => Buffer.concat(pieces).toString('utf8'),
  };
}

/** Passes each line on as soon as it is complete, so none after the program's end. Drops a line that is too long. */
function linesTo(onLine: (line: string) => void): (piece: Buffer) => void {
  let begun = '';
  return (piece) => {
    const lines = (begun + piece.toString('latin1')).split('\n');
    begun = lines.pop() ?? '';
    if (begun.length > limits.helperOutputBytes) begun = '';
    for (const line of lines) onLine(line);
  };
}
