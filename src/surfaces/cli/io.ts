/** Defines the parts of the process that a command may use. */
import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { usageError } from './flags.ts';
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

// Reads a secret line: from a terminal without showing it, else from what is piped in.

const MAX_BYTES = 4_096;

/** One trailing line break is not part of it. */
export async function readHiddenLine(prompt: string, io: CliIo): Promise<string> {
  return io.stdin.isTTY ? typedLine(prompt, io) : pipedLine(io);
}

/** Node's own line editor, whose echo goes nowhere. */
async function typedLine(prompt: string, { stdin, stderr, signal }: CliIo): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  const interrupt = new AbortController();
  // The terminal sends no signal while the editor has it.
  editor.once('SIGINT', () => interrupt.abort());
  editor.once('close', () => interrupt.abort());
  stderr.write(prompt);
  try {
    return await editor.question('', { signal: AbortSignal.any([signal, interrupt.signal]) });
  } catch (error) {
    if (interrupt.signal.aborted) throw usageError('Nothing was typed.', 'Run the command again.');
    throw error;
  } finally {
    editor.close();
    stderr.write('\n');
  }
}

async function pipedLine({ stdin }: CliIo): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stdin as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BYTES)
      throw usageError('Standard input is too long for a key.', 'Pipe in the key alone.');
    parts.push(part);
  }
  return Buffer.concat(parts)
    .toString()
    .replace(/\r?\n$/, '');
}
