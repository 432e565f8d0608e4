/** `sandhaven rm`: deletes sandboxes. */
import { deleteSandbox } from '../../../catalog/sandboxes/lifecycle.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { Command } from '../io.ts';
import { printProblem, printResult } from '../output.ts';

const help = `Usage: sandhaven rm SANDBOX …

Deletes sandboxes, by name or ID, and everything in them.

${commonHelp}`;

export const rm: Command = {
  summary: 'delete sandboxes',
  shape: () => ({ takes: ['sandbox'], repeats: true }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const references = [...flags.positionals, ...(flags.rest ?? [])];
    if (references.length === 0) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    const json = flagIsSet(flags, 'json');
    const client = createClient(await connectionOf(flags, io));
    let status = 0;
    for (const sandbox of references) {
      const { result, problem } = await client(deleteSandbox, { sandbox }, { signal: io.signal });
      if (problem) status ||= printProblem(problem, json, io);
      else printResult(deleteSandbox, result, json, io);
    }
    return status;
  },
};
