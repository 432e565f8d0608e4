/** What a command may touch of the process around it. */
import type { Readable, Writable } from 'node:stream';

export interface CliIo {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: Record<string, string | undefined>;
  /** Aborted when the user interrupts. */
  signal: AbortSignal;
}

export interface Command {
  /** One line for the list of commands. */
  summary: string;
  /** @returns the exit status. What it throws is printed as a problem. */
  run(argv: string[], io: CliIo): Promise<number>;
}

/** As of a process that SIGINT ended. */
export const EXIT_INTERRUPTED = 130;

/** The first interrupt aborts; a second one ends the process at once, as it would have without us. */
export function processIo(): CliIo {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort());
  }
  // A reader that went away, as `head` does, wants no more and is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, signal: controller.signal };
}
