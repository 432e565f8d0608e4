/** `sandhaven tools`: the catalogue. */
import { commonFlags, flagIsSet, parseKnownFlags } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { Command } from '../io.ts';
import { table } from '../render.ts';

const help = `Usage: sandhaven tools [--json]

Lists the tools; with --json, with their schemas and annotations.

${commonHelp}`;

export const tools: Command = {
  summary: 'list the tools',
  async run(argv, { stdout }) {
    const flags = parseKnownFlags(argv, commonFlags);
    // No other command waits for all schemas.
    const { descriptions } = await import('../../../catalog/describe.ts');
    if (flagIsSet(flags, 'help')) stdout.write(help);
    else if (flagIsSet(flags, 'json')) stdout.write(`${JSON.stringify({ tools: descriptions })}\n`);
    else stdout.write(`${table(descriptions.map(({ name, title }) => ({ name, title })))}\n`);
    return 0;
  },
};
