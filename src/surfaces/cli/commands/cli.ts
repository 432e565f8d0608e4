/** `sandhaven`: finds the command, and turns every error into a problem and an exit status. */

import { SandhavenError, toProblem } from '../../../model/errors.ts';
import { newRequestId } from '../../../model/ids.ts';
import { nearest } from '../../../model/nearest.ts';
import { usageError } from '../flags.ts';
import { type CliIo, type Command, EXIT_INTERRUPTED } from '../io.ts';
import { printProblem } from '../output.ts';

export interface CliDependencies {
  version: string;
  /** Commands from outside this folder (`up`, `doctor`, `mcp`), listed first. */
  commands?: Record<string, Command>;
}

/** @returns the exit status; 130 after an interrupt by the user. */
export async function runCli(
  argv: string[],
  io: CliIo,
  { version, commands = {} }: CliDependencies,
): Promise<number> {
  try {
    return await dispatch(argv, io, await needed(commands, argv[0]), version);
  } catch (error) {
    if (io.signal.aborted) return EXIT_INTERRUPTED;
    // A defect of this process never reaches the service's log, so its trace is printed here.
    if (!(error instanceof SandhavenError) && error instanceof Error) io.stderr.write(`${error.stack}\n`);
    return printProblem(toProblem(error, newRequestId()), argv.includes('--json'), io);
  }
}

/** The service, and what else a host runs, loads none of the commands for its clients. */
async function needed(
  commands: Record<string, Command>,
  name: string | undefined,
): Promise<Record<string, Command>> {
  if (name !== undefined && Object.hasOwn(commands, name)) return commands;
  const { withClientCommands } = await import('./client-commands.ts');
  return withClientCommands(commands);
}

async function dispatch(
  argv: string[],
  io: CliIo,
  commands: Record<string, Command>,
  version: string,
): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const [about] = rest;
    const command = first === 'help' && about !== undefined ? find(commands, about) : null;
    if (command) return command.run(['--help'], io);
    const { mainHelp } = await import('../help.ts');
    io.stdout.write(mainHelp(commands));
    return 0;
  }
  if (first === '--version') {
    const { toolkitLines } = await import('../../../catalog/toolsets.ts');
    io.stdout.write(`${[`sandhaven ${version}`, ...toolkitLines].join('\n')}\n`);
    return 0;
  }
  const variable = environmentOf[first.split('=', 1)[0] ?? ''];
  if (variable !== undefined) {
    const inline = first.includes('=');
    const value = inline ? first.slice(first.indexOf('=') + 1) : rest.shift();
    if (value === undefined) throw usageError(`${first} needs a value.`, `Write ${first}=VALUE.`);
    if (variable === 'SANDHAVEN_CONTEXT') {
      const { assertNothingElse } = await import('../contexts.ts');
      assertNothingElse(io, value);
    }
    return dispatch(rest, { ...io, env: { ...io.env, [variable]: value } }, commands, version);
  }
  return find(commands, first).run(rest, io);
}

/** Flags that may also come before the command. */
const environmentOf: Record<string, string> = {
  '--url': 'SANDBOX_API_URL',
  '--data-dir': 'SANDHAVEN_DATA_DIR',
  '--context': 'SANDHAVEN_CONTEXT',
  '--team': 'SANDHAVEN_TEAM',
};

function find(commands: Record<string, Command>, name: string): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command;
  const [close] = nearest(name, Object.keys(commands));
  const hint = close ? `Did you mean \`sandhaven ${close}\`?` : '`sandhaven --help` lists the commands.';
  throw usageError(`There is no command '${name}'.`, hint);
}
