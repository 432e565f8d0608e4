/** Commands that run in a sandbox: their words on the way in, their output and status on the way out. */
import type { Tool } from '../../../catalog/tool.ts';
import type { Client } from '../client.ts';
import type { CliIo } from '../io.ts';
import { printProblem } from '../output.ts';
import { ShownOutput } from '../shown-output.ts';

/** Quotes several words, so that each arrives unchanged; one word is a shell command line. */
export function commandLine(words: string[]): string {
  const [only] = words;
  if (only !== undefined && words.length === 1) return only;
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** Makes a number of digits alone; the service refuses anything else in the same words for every client. */
export function secondsOf(given: string | undefined): { timeout_seconds?: number | string } {
  if (given === undefined) return {};
  return { timeout_seconds: /^\d+$/.test(given) ? Number(given) : given };
}

/**
 * Runs a command or code and prints each of its streams on the same one here, as it comes and byte for byte; with `json`
 * the result alone. A stream of which nothing came is printed from the result: an earlier agent shows none.
 * @returns its exit status, or that of the problem.
 */
export async function runShown(
  client: Client,
  { tool, parameters }: { tool: Tool; parameters: Record<string, unknown> },
  json: boolean,
  io: CliIo,
): Promise<number> {
  const onOutput = new ShownOutput(io);
  const options = { signal: io.signal, ...(json ? {} : { onOutput }) };
  const { result, problem } = await client(tool, parameters, options);
  if (problem) return printProblem(problem, json, io);
  if (json) io.stdout.write(`${JSON.stringify(result)}\n`);
  else {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (!onOutput.has(stream)) io[stream].write(String(result[stream]));
    }
    if (result['timed_out']) io.stderr.write('Killed at the timeout. Raise it with --timeout.\n');
  }
  return Number(result['exit_code']);
}
