/** `sandhaven repl SANDBOX`: runs code in a context, line by line; variables stay there, also for the next visit. */
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { interruptContext } from '../../../administration/contexts.ts';
import { runInContext } from '../../../catalog/execution/run-in-context.ts';
import type { Display } from '../../../control/ports/index.ts';
import { contextLanguages } from '../../../model/sandbox.ts';
import { type Client, createAdminClient, createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printable, printableLines, printProblem, ShownOutput } from '../output.ts';

const help = `Usage: sandhaven repl SANDBOX [--language LANGUAGE] [--context ID]
       sandhaven repl SANDBOX [flags] < FILE

Runs code in a context of a sandbox, an interpreter whose variables stay when you leave. A line that opens
a block is continued until an empty line. Ctrl-C interrupts the code, Ctrl-D leaves. Code from a file or a
pipe is run as a whole.

  --language LANGUAGE  python, javascript, typescript or bash (default: the sandbox's)
  --context ID         context (default: repl, or repl-LANGUAGE); it is made at its first use
  -u, --user USER      Linux user of a new context

${commonHelp}`;

const BLOCK = /(?:[:{[(\\]|\bthen|\bdo)\s*$/;

export const repl: Command = {
  summary: 'run code line by line, with variables that stay',
  shape: () => ({
    flags: { language: contextLanguages, context: 'text', user: 'text' },
    takes: ['sandbox'],
  }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, {
      ...commonFlags,
      language: { type: 'string' },
      context: { type: 'string' },
      user: { type: 'string', short: 'u' },
    });
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, ...others] = [...flags.positionals, ...(flags.rest ?? [])];
    if (sandbox === undefined) throw usageError('No sandbox is named.', 'Usage: sandhaven repl SANDBOX');
    if (others.length > 0) throw usageError(`'${others[0]}' is one argument too many.`);
    const connection = await connectionOf(flags, io);
    const language = flagValue(flags, 'language');
    const usual = language === undefined ? 'repl' : `repl-${language}`;
    const context = flagValue(flags, 'context') ?? usual;
    const place = { sandbox, context, language, user: flagValue(flags, 'user') };
    const client = createClient(connection);
    if (!io.stdin.isTTY) return runOnce(client, place, await text(io.stdin), io);
    const administer = createAdminClient(connection);
    const interrupt = () => void administer(interruptContext, { sandbox, context });
    return converse(client, place, interrupt, io);
  },
};

type Place = Record<string, string | undefined>;

/** Prints output, results and errors as they come. @returns the exit status. */
async function runOnce(client: Client, place: Place, code: string, io: CliIo): Promise<number> {
  const shown = new ShownOutput(io);
  const onDisplay = ({ data }: Display) => {
    const plain = data['text/plain'] ?? `[${Object.keys(data).join(', ')}]`;
    void shown.show({ stream: 'stdout', bytes: Buffer.from(`${plain}\n`), leftOutBytes: 0 });
  };
  const options = { signal: io.signal, onOutput: shown, onDisplay };
  const { result, problem } = await client(runInContext, { ...place, code }, options);
  if (problem) return printProblem(problem, false, io);
  const error = result['error'] as { traceback: string } | null;
  if (error) io.stderr.write(`${printableLines(error.traceback.replace(/\n$/, ''))}\n`);
  if (result['ended'] !== null)
    io.stderr.write(`The context has ended: ${printable(String(result['ended']))}\n`);
  if (result['timed_out']) io.stderr.write('The code was interrupted at its timeout.\n');
  return error || result['ended'] !== null ? 1 : Number(result['exit_code'] ?? 0);
}

async function converse(client: Client, place: Place, interrupt: () => void, io: CliIo): Promise<number> {
  const editor = createInterface({ input: io.stdin, output: io.stdout, terminal: true });
  let running = false;
  let code = '';
  editor.on('SIGINT', () => {
    if (running) interrupt();
    else io.stdout.write('\n');
    code = '';
    if (!running) editor.prompt();
  });
  const prompt = () => {
    editor.setPrompt(code === '' ? '> ' : '… ');
    editor.prompt();
  };
  prompt();
  for await (const line of editor) {
    const begins = code === '' && !BLOCK.test(line);
    code = code === '' ? line : `${code}\n${line}`;
    if (begins || line === '') {
      running = code.trim() !== '';
      if (running) await runOnce(client, place, code, io);
      running = false;
      code = '';
    }
    prompt();
  }
  return 0;
}
