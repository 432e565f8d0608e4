/** `sandhaven users`, `sandhaven keys` …: the administration actions, each by the words of its definition. */
import type { Action } from '../../../administration/action.ts';
import { actions, commandGroups } from '../../../administration/index.ts';
import { nearest } from '../../../model/nearest.ts';
import { toCallArguments } from '../arguments.ts';
import { createAdminClient } from '../client.ts';
import { type Shape, shapeOfInput } from '../completion/shape.ts';
import { connectionOf } from '../connection.ts';
import { flagIsSet, flagValue, usageError } from '../flags.ts';
import { actionHelp, groupHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem, printRecords } from '../output.ts';
import { readParameters } from '../parameters-file.ts';
import { flagsInput, readSecret, refuseSecretFlag } from '../secret-parameter.ts';
import { audit } from './audit.ts';
import { auth } from './auth.ts';
import { network } from './network.ts';

const LIST = 'list';

/** One command for each first word. */
export function administrationCommands(): Record<string, Command> {
  return Object.fromEntries(
    Object.entries(commandGroups).map(([group, summary]) => [
      group,
      withMore(group, {
        summary,
        shape: () => shapeOfGroup(group),
        run: (argv, io) => runGroup(group, argv, io),
      }),
    ]),
  );
}

/** Extends the groups that have more commands than their actions. */
function withMore(group: string, command: Command): Command {
  if (group === 'audit') return audit(command);
  if (group === 'network') return network(command);
  return group === 'auth' ? auth(command) : command;
}

function shapeOfGroup(group: string): Shape {
  const members = actions.filter(({ command }) => groupOf(command) === group);
  return {
    members: Object.fromEntries(
      members.map((action) => {
        const { argument, secret } = action;
        const takes = argument === 'snapshot' || argument === 'sandbox' ? ([argument] as const) : [];
        return [verbOf(action) || LIST, { flags: shapeOfInput(flagsInput(action.input, secret)), takes }];
      }),
    ),
  };
}

async function runGroup(group: string, argv: string[], io: CliIo): Promise<number> {
  const members = new Map(
    actions.filter(({ command }) => groupOf(command) === group).map((action) => [verbOf(action), action]),
  );
  const [first = '', ...rest] = argv;
  if (first === '--help' || first === '-h') {
    io.stdout.write(groupHelp(group, [...members.values()]));
    return 0;
  }
  const implied = first === '' || first.startsWith('-');
  const action = members.get(implied ? LIST : first) ?? (implied ? members.get('') : undefined);
  if (action) return runAction(action, implied ? argv : rest, io);
  const [close] = nearest(first, [...members.keys()]);
  const hint = close ? `Did you mean \`sandhaven ${group} ${close}\`?` : `See sandhaven ${group} --help.`;
  throw usageError(
    implied ? `sandhaven ${group} needs a command.` : `There is no '${group} ${first}'.`,
    hint,
  );
}

async function runAction(action: Action, argv: string[], io: CliIo): Promise<number> {
  const { argument, words, secret } = action;
  refuseSecretFlag(argv, secret);
  const taken = { input: flagsInput(action.input, secret) };
  const { parameters: given, flags } = toCallArguments(taken, argv, { argument, words });
  if (flagIsSet(flags, 'help')) {
    io.stdout.write(actionHelp({ ...action, ...taken }));
    return 0;
  }
  const json = flagIsSet(flags, 'json');
  const named = { ...(await readParameters(flagValue(flags, 'parameters'), io)), ...given };
  const parameters = secret === undefined ? named : await readSecret(named, secret, io);
  const client = createAdminClient(await connectionOf(flags, io));
  const { result, problem } = await client(action, parameters, { signal: io.signal });
  if (problem) return printProblem(problem, json, io);
  printRecords(action.rows?.(result) ?? null, result, json, io);
  return 0;
}

function groupOf(command: string): string {
  return command.split(' ', 1)[0] ?? '';
}

/** Returns the words after the group's; empty where the group's word is the whole command. */
function verbOf({ command }: Action): string {
  return command.split(' ').slice(1).join(' ');
}
