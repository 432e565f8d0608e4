/** `sandhaven exec`: runs a command in a sandbox; its output and its exit status become the command's own. */
import { z } from 'zod';
import { runCommand } from '../../../../catalog/execution/run-command.ts';
import { readParameters, toCallArguments } from '../../arguments.ts';
import { createClient } from '../../client.ts';
import { shapeOfInput } from '../../completion/shape.ts';
import { connectionOf } from '../../connection.ts';
import { flagIsSet, flagValue, usageError } from '../../flags.ts';
import { parametersHelp } from '../../help.ts';
import type { Command } from '../../io.ts';
import { commandLine, runShown } from '../../verbs/ran-command.ts';

const USAGE = 'sandhaven exec SANDBOX [flags] -- COMMAND [ARGUMENT …]';

const about =
  'Runs a command in a sandbox that is started; prints its output as it comes, and exits with its status. One word after -- is a ' +
  "shell command line: sandhaven exec demo -- 'ls | wc -l'. Standard input is empty; " +
  '`sandhaven ssh` is a terminal.';

/** The tool's own parameters, with the name that `run` gives its timeout. */
function flagsInput(): z.ZodObject {
  const { cwd, env, timeout_seconds: timeout } = runCommand.input.shape;
  return z.strictObject({ ...{ cwd, env, timeout } } as z.ZodRawShape);
}

export const exec: Command = {
  summary: 'run a command in a sandbox',
  shape: () => ({ flags: shapeOfInput(flagsInput()), takes: ['sandbox'] }),
  async run(argv, io) {
    const end = argv.indexOf('--');
    const own = end === -1 ? argv : argv.slice(0, end);
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
