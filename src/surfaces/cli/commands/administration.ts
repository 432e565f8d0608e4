/** `sandhaven users`, `sandhaven keys` …: the administration actions, each by the words of its definition. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Action } from '../../../administration/action.ts';
import { actions, commandGroups } from '../../../administration/index.ts';
import { nearest } from '../../../model/nearest.ts';
import { readParameters, toCallArguments } from '../arguments.ts';
import { createAdminClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { flagIsSet, flagValue, usageError } from '../flags.ts';
import { actionHelp, groupHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { readHiddenLine } from '../io.ts';
import { printProblem, printRecords } from '../output.ts';
import { type Shape, shapeOfInput } from '../shape.ts';
import { audit } from './audit.ts';
import { auth } from './auth.ts';
import { followProcess } from './follow-process.ts';
import { network } from './network.ts';
import { watchFiles } from './watch-files.ts';

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

/** Commands of a group that are no actions, by their word. */
const besides: Record<string, Record<string, Command>> = {
  files: { watch: watchFiles },
  processes: { follow: followProcess },
};

function shapeOfGroup(group: string): Shape {
  const members = actions.filter(({ command }) => groupOf(command) === group);
  const others = Object.entries(besides[group] ?? {});
  return {
    members: Object.fromEntries([
      ...members.map((action) => {
        const { argument, secret } = action;
        const takes = argument === 'snapshot' || argument === 'sandbox' ? ([argument] as const) : [];
        return [verbOf(action) || LIST, { flags: shapeOfInput(flagsInput(action.input, secret)), takes }];
      }),
      ...others.map(([word, { shape }]) => [word, shape?.() ?? {}]),
    ]),
  };
}

async function runGroup(group: string, argv: string[], io: CliIo): Promise<number> {
  const members = new Map(
    actions.filter(({ command }) => groupOf(command) === group).map((action) => [verbOf(action), action]),
  );
  const others = new Map(Object.entries(besides[group] ?? {}));
  const [first = '', ...rest] = argv;
  if (first === '--help' || first === '-h') {
    const listed = [...others].map(([word, { summary }]) => ({
      command: `${group} ${word}`,
      title: summary,
    }));
    io.stdout.write(groupHelp(group, [...members.values(), ...listed]));
    return 0;
  }
  const other = others.get(first);
  if (other) return other.run(rest, io);
  const implied = first === '' || first.startsWith('-');
  const action = members.get(implied ? LIST : first) ?? (implied ? members.get('') : undefined);
  if (action) return runAction(action, implied ? argv : rest, io);
  const [close] = nearest(first, [...members.keys(), ...others.keys()]);
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

/**
 * Takes a secret parameter from a file, from standard input, or as it is typed at a terminal that does not show it;
 * never from an argument, which every user of the host could read. Replaces the secret in the command's flags by a
 * file name.
 */
function flagsInput(input: z.ZodObject, secret: string | undefined): z.ZodObject {
  if (secret === undefined) return input;
  const file = z
    .string()
    .optional()
    .describe(`File that holds the ${secret}; standard input without it. Never an argument.`);
  const { [secret]: _, ...others } = input.shape;
  return z.strictObject({ ...others, [fileFlag(secret)]: file });
}

/** Throws `invalid_argument` before any other argument is read. */
function refuseSecretFlag(argv: string[], secret: string | undefined): void {
  if (secret === undefined || !argv.some((word) => word === `--${secret}` || word.startsWith(`--${secret}=`)))
    return;
  throw usageError(
    `The ${secret} is not taken as an argument, where every user of this machine could see it.`,
    `Give it by standard input, or in a file with --${secret}-file.`,
  );
}

/** Replaces the file name by the secret. One trailing line break is not part of it. */
async function readSecret(
  parameters: Record<string, unknown>,
  secret: string,
  io: CliIo,
): Promise<Record<string, unknown>> {
  const { [fileFlag(secret)]: file, ...others } = parameters;
  if (file === undefined && Object.hasOwn(others, secret)) return others;
  const typed = file === undefined || file === '-';
  if (typed && io.stdin.isTTY) return { ...others, [secret]: await readHiddenLine(`${secret}: `, io) };
  const content = await (typed ? text(io.stdin) : readFile(String(file), 'utf8')).catch(() => {
    throw usageError(`--${secret}-file: the file cannot be read.`, 'Give the path of a file.');
  });
  return { ...others, [secret]: content.replace(/\r?\n$/, '') };
}

function fileFlag(secret: string): string {
  return `${secret}_file`;
}
