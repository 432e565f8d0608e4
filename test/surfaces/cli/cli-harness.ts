/** The command line as a function: arguments in, exit status and both outputs out. */
import { PassThrough, Readable } from 'node:stream';
import { runCli } from '../../../src/surfaces/cli/commands/cli.ts';
import type { CliIo } from '../../../src/surfaces/cli/io.ts';
import { API_KEY } from '../fakes/fake-services.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Record<string, string>;
  stdin?: string;
  /** Both outputs are a terminal. */
  tty?: boolean;
  signal?: AbortSignal;
  /** Called at each piece of standard output. */
  printed?(): void;
  commands?: Parameters<typeof runCli>[2]['commands'];
}

/** Runs commands against one service. */
export function cliFor(url: string): (argv: string[], options?: CliOptions) => Promise<Ran> {
  return async (argv, { env, stdin, tty = false, signal, printed, commands } = {}) => {
    const stdout = collector(tty, printed);
    const stderr = collector(tty);
    const input: CliIo['stdin'] = Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]);
    input.isTTY = stdin === undefined;
    const io: CliIo = {
      stdin: input,
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: env ?? { SANDBOX_API_URL: url, SANDBOX_API_KEY: API_KEY },
      signal: signal ?? new AbortController().signal,
    };
    const code = await runCli(argv, io, { version: '1.2.3', ...(commands ? { commands } : {}) });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
}

function collector(tty: boolean, printed?: () => void): { stream: CliIo['stdout']; text(): string } {
  const stream: CliIo['stdout'] = new PassThrough();
  stream.isTTY = tty;
  let text = '';
  stream.on('data', (chunk) => {
    text += chunk;
    printed?.();
  });
  return { stream, text: () => text };
}
