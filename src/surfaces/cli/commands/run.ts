/**
 * `sandhaven run`: runs code or a command in a sandbox of its own, which is deleted afterwards. Its output
 * and its exit status become the command's own.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { runCode } from '../../../catalog/execution/run-code.ts';
import { runCommand } from '../../../catalog/execution/run-command.ts';
import { createSandbox } from '../../../catalog/sandboxes/create-sandbox.ts';
import { deleteSandbox } from '../../../catalog/sandboxes/lifecycle.ts';
import type { Tool } from '../../../catalog/tool.ts';
import { toCallArguments } from '../arguments.ts';
import { type Client, createClient } from '../client.ts';
import { shapeOfInput } from '../completion/shape.ts';
import { connectionOf } from '../connection.ts';
import {
  commonFlags,
  flagIsSet,
  flagValue,
  type ParsedFlags,
  parseKnownFlags,
  usageError,
} from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem, progressLine } from '../output.ts';
import { commandLine, runShown, secondsOf } from '../verbs/ran-command.ts';

const help = `Usage: sandhaven run [flags] CODE
       sandhaven run [flags] --file FILE
       sandhaven run [flags] < FILE
       sandhaven run [flags] -- COMMAND [ARGUMENT …]

Runs code, or a command after --, in a new sandbox; prints its output, exits with its status, and deletes
the sandbox. One word after -- is a shell command line: sandhaven run -- 'ls | wc -l'

  --language LANGUAGE  python (default), typescript or javascript
  --image IMAGE        container image (default: the standard base image)
  --network NETWORK    open, none, or JSON like '{"profiles": ["packages"]}' (default: the service's)
  --file FILE          read the code from FILE; - is standard input
  --timeout SECONDS    1-300 for code (default 30), 1-600 for a command (default 60)

${commonHelp}`;

const flagSpecs = {
  ...commonFlags,
  language: { type: 'string' },
  image: { type: 'string' },
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
