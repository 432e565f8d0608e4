/** Reads a secret line: from a terminal without showing it, else from what is piped in. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { usageError } from './flags.ts';
import type { CliIo } from './io.ts';

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
