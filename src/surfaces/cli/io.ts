/** Defines the parts of the process that a command may use. */
import type { Readable, Writable } from 'node:stream';
import type { Shape } from './shape.ts';

export interface CliIo {
  stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: Record<string, string | undefined>;
  /** Aborted by the user's interrupt. */
  signal: AbortSignal;
}

export interface Command {
  /** One line in the list of commands. */
  summary: string;
  /** Returns its form for completion; without it, it takes the flags of every command. */
  shape?(): Shape;
  /** @returns the exit status. A thrown error is printed as a problem. */
  run(argv: string[], io: CliIo): Promise<number>;
}

/** Exit status of a process ended by SIGINT. */
export const EXIT_INTERRUPTED = 130;

/** The first interrupt aborts; a second one ends the process at once, as without this handler. */
export function processIo(): CliIo {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort());
  }
  // A reader that closed the pipe, as `head` does, is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, signal: controller.signal };
}
