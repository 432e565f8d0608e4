/** `sandhaven`: finds the command, and turns every error into a problem and an exit status. */

import { toolkitLines } from '../../catalog/toolsets.ts';
import { SandhavenError, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import { nearest } from '../../model/nearest.ts';
import { administrationCommands } from './commands/administration.ts';
import { attach } from './commands/attach.ts';
import { call, tools } from './commands/call.ts';
import { completion } from './commands/completion.ts';
import { context } from './commands/context.ts';
import { cp } from './commands/everyday/cp.ts';
import { logs } from './commands/everyday/logs.ts';
import { create, inspect, ls, rm, start, stop } from './commands/everyday/sandboxes.ts';
import { snapshot } from './commands/everyday/snapshot.ts';
import { forward } from './commands/forward.ts';
import { login, logout } from './commands/login.ts';
import { exec, run } from './commands/run.ts';
import { ssh } from './commands/ssh.ts';
import { assertNothingElse } from './contexts.ts';
import { usageError } from './flags.ts';
import { mainHelp } from './help.ts';
import { type CliIo, type Command, EXIT_INTERRUPTED } from './io.ts';
import { printProblem } from './output.ts';

/** Verbs for people, in the order of a sandbox's life. */
const everyday = {
  run,
  create,
  ls,
  inspect,
  exec,
  attach,
  ssh,
  cp,
  logs,
  forward,
  start,
  stop,
  rm,
  snapshot,
};

/** Services that a person uses, each with its key. */
const contexts = { login, logout, context };

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
  const all: Record<string, Command> = {
    ...{ ...commands, ...everyday, call, tools, completion: completion(() => all) },
    ...{ ...contexts, ...administrationCommands() },
  };
  try {
    return await dispatch(argv, io, all, version);
  } catch (error) {
    if (io.signal.aborted) return EXIT_INTERRUPTED;
    // A defect of this process never reaches the service's log, so its trace is printed here.
    if (!(error instanceof SandhavenError) && error instanceof Error) io.stderr.write(`${error.stack}\n`);
    return printProblem(toProblem(error, newRequestId()), argv.includes('--json'), io);
  }
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
    io.stdout.write(mainHelp(commands));
    return 0;
  }
  if (first === '--version') {
    io.stdout.write(`${[`sandhaven ${version}`, ...toolkitLines].join('\n')}\n`);
    return 0;
  }
  const variable = environmentOf[first.split('=', 1)[0] ?? ''];
  if (variable !== undefined) {
    const inline = first.includes('=');
    const value = inline ? first.slice(first.indexOf('=') + 1) : rest.shift();
    if (value === undefined) throw usageError(`${first} needs a value.`, `Write ${first}=VALUE.`);
    if (variable === 'SANDHAVEN_CONTEXT') assertNothingElse(io, value);
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
