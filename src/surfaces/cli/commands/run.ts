/**
 * `sandhaven run`: runs code or a command in a sandbox of its own, which is deleted afterwards; `sandhaven exec` in
 * one that is there. The output and the exit status become the command's own.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Tool } from '../../../catalog/base/tool.ts';
import { runCode, runCommand } from '../../../catalog/execution/run.ts';
import { createSandbox } from '../../../catalog/sandboxes/create-sandbox.ts';
import { deleteSandbox } from '../../../catalog/sandboxes/lifecycle.ts';
import { readParameters, toCallArguments } from '../arguments.ts';
import { type Client, createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import {
  commonFlags,
  flagIsSet,
  flagValue,
  longUser,
  type ParsedFlags,
  parseKnownFlags,
  usageError,
} from '../flags.ts';
import { commonHelp, parametersHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem, progressLine, ShownOutput } from '../output.ts';
import { shapeOfInput } from '../shape.ts';

const help = `Usage: sandhaven run [flags] CODE
       sandhaven run [flags] --file FILE
       sandhaven run [flags] < FILE
       sandhaven run [flags] -- COMMAND [ARGUMENT …]

Runs code, or a command after --, in a new sandbox; prints its output, exits with its status, and deletes
the sandbox. One word after -- is a shell command line: sandhaven run -- 'ls | wc -l'

  --language LANGUAGE  python (default), typescript or javascript
  --image IMAGE        container image (default: the standard base image)
  -u, --user USER      Linux user, by name or number (default: root)
  --network NETWORK    open, none, or JSON like '{"profiles": ["packages"]}' (default: the service's)
  --file FILE          read the code from FILE; - is standard input
  --timeout SECONDS    1-300 for code (default 30), 1-600 for a command (default 60)

${commonHelp}`;

const flagSpecs = {
  ...commonFlags,
  language: { type: 'string' },
  image: { type: 'string' },
  user: { type: 'string', short: 'u' },
  network: { type: 'string' },
  file: { type: 'string', short: 'f' },
  timeout: { type: 'string' },
} as const;

interface Job {
  tool: Tool;
  parameters: Record<string, unknown>;
}

export const run: Command = {
  summary: 'run code or a command in a sandbox of its own',
  shape: () => ({
    flags: {
      language: shapeOfInput(createSandbox.input)['language'] ?? 'text',
      image: 'text',
      user: 'text',
      network: shapeOfInput(createSandbox.input)['network'] ?? 'text',
      file: { of: 'file' },
      timeout: 'text',
    },
  }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, flagSpecs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const json = flagIsSet(flags, 'json');
    const client = createClient(await connectionOf(flags, io));
    const job = await jobOf(flags, io);
    const progress = progressLine(io);
    const settings = settingsOf(flags);
    // Never aborted: a sandbox whose id is unknown could not be deleted.
    const created = await client(
      createSandbox,
      { ...settings, ephemeral: true },
      { onProgress: progress.show },
    ).finally(progress.clear);
    if (created.problem) return printProblem(created.problem, json, io);
    try {
      io.signal.throwIfAborted();
      return await runJob(client, job, created.result['id'], json, io);
    } finally {
      const { problem } = await client(deleteSandbox, { sandbox: created.result['id'] });
      if (problem) printProblem(problem, json, io);
    }
  },
};

function settingsOf(flags: ParsedFlags): Record<string, unknown> {
  const network = flagValue(flags, 'network');
  const parsed = network === undefined ? [] : [`--network=${network}`];
  return {
    ...{ language: flagValue(flags, 'language'), image: flagValue(flags, 'image') },
    user: flagValue(flags, 'user'),
    ...toCallArguments(createSandbox, parsed).parameters,
  };
}

function runJob(client: Client, job: Job, sandbox: unknown, json: boolean, io: CliIo): Promise<number> {
  return runShown(client, { tool: job.tool, parameters: { ...job.parameters, sandbox } }, json, io);
}

async function jobOf(flags: ParsedFlags, io: CliIo): Promise<Job> {
  const timeout = secondsOf(flagValue(flags, 'timeout'));
  if (flags.rest !== null) {
    if (flags.rest.length === 0) throw usageError('There is no command after --.');
    if (flags.positionals.length > 0) throw usageError('Give either code or a command after --, not both.');
    return { tool: runCommand, parameters: { command: commandLine(flags.rest), ...timeout } };
  }
  return { tool: runCode, parameters: { code: await codeOf(flags, io), ...timeout } };
}

async function codeOf(flags: ParsedFlags, io: CliIo): Promise<string> {
  const file = flagValue(flags, 'file');
  const [code, extra] = flags.positionals;
  if (extra !== undefined)
    throw usageError('The code must be one argument.', "Quote it: sandhaven run 'print(1)'");
  if (code !== undefined && file !== undefined) throw usageError('Give either code or --file, not both.');
  if (code !== undefined && code !== '-') return code;
  if (file !== undefined && file !== '-') {
    return readFile(file, 'utf8').catch(() => {
      throw usageError(`The file '${file}' cannot be read.`, 'Check its name and its permissions.');
    });
  }
  const asked = code !== undefined || file !== undefined;
  const read = io.stdin.isTTY && !asked ? '' : await text(io.stdin);
  if (read !== '') return read;
  throw usageError(
    asked || !io.stdin.isTTY
      ? 'There is nothing to run: standard input is empty.'
      : 'There is nothing to run.',
    'Give code, --file FILE, or a command after --.',
  );
}

const USAGE = 'sandhaven exec SANDBOX [flags] -- COMMAND [ARGUMENT …]';

const about =
  'Runs a command in a sandbox that is started; prints its output as it comes, and exits with its status. One word after -- is a ' +
  "shell command line: sandhaven exec demo -- 'ls | wc -l'. Standard input is empty; " +
  '`sandhaven ssh` is a terminal.';

/** The tool's own parameters, with the name that `run` gives its timeout. */
function flagsInput(): z.ZodObject {
  const { user, cwd, env, timeout_seconds: timeout } = runCommand.input.shape;
  return z.strictObject({ ...{ user, cwd, env, timeout } } as z.ZodRawShape);
}

/** `sandhaven exec`: runs a command in a sandbox; its output and its exit status become the command's own. */
export const exec: Command = {
  summary: 'run a command in a sandbox',
  shape: () => ({ flags: shapeOfInput(flagsInput()), takes: ['sandbox'] }),
  async run(argv, io) {
    const end = argv.indexOf('--');
    const own = (end === -1 ? argv : argv.slice(0, end)).map(longUser);
    const words = end === -1 ? [] : argv.slice(end + 1);
    const input = flagsInput();
    if (own.some((word) => word === '--help' || word === '-h')) {
      io.stdout.write(parametersHelp(USAGE, { input, description: about }));
      return 0;
    }
    if (words.length === 0) {
      throw usageError('There is no command.', 'Give it after --, as in: sandhaven exec demo -- ls -l');
    }
    const { parameters, flags, extras } = toCallArguments({ input }, own, { extras: 'returned' });
    const [sandbox, extra] = extras;
    if (sandbox === undefined) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    if (extra !== undefined) throw usageError(`'${extra}' stands before --.`, `Usage: ${USAGE}`);
    const { timeout, ...given } = {
      ...(await readParameters(flagValue(flags, 'parameters'), io)),
      ...parameters,
    };
    const request = {
      ...given,
      ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
      ...{ sandbox, command: commandLine(words) },
    };
    const json = flagIsSet(flags, 'json');
    const client = createClient(await connectionOf(flags, io));
    return runShown(client, { tool: runCommand, parameters: request }, json, io);
  },
};

/**
 * Commands that run in a sandbox: their words on the way in, their output and status on the way out. Quotes several
 * words, so that each arrives unchanged; one word is a shell command line.
 */
function commandLine(words: string[]): string {
  const [only] = words;
  if (only !== undefined && words.length === 1) return only;
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** Makes a number of digits alone; the service refuses anything else in the same words for every client. */
function secondsOf(given: string | undefined): { timeout_seconds?: number | string } {
  if (given === undefined) return {};
  return { timeout_seconds: /^\d+$/.test(given) ? Number(given) : given };
}

/**
 * Runs a command or code and prints each of its streams on the same one here, as it comes and byte for byte; with `json`
 * the result alone. A stream of which nothing came is printed from the result: an earlier agent shows none.
 * @returns its exit status, or that of the problem.
 */
async function runShown(
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
