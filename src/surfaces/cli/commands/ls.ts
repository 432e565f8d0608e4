/** `sandhaven ls`: the caller's sandboxes as a table. */

import type { SandboxView } from '../../../catalog/sandbox-view.ts';
import { listSandboxes } from '../../../catalog/sandboxes/list-sandboxes.ts';
import { createClient } from '../client.ts';
import { shapeOfInput } from '../completion/shape.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { Command } from '../io.ts';
import { printProblem } from '../output.ts';
import { table } from '../render.ts';
import { allPages } from '../verbs/all-pages.ts';

const help = `Usage: sandhaven ls [--state STATE] [--json]

Lists all your sandboxes, newest first.

  --state STATE      only those started, stopped, archived or in error

${commonHelp}`;

export const ls: Command = {
  summary: 'list your sandboxes',
  shape: () => ({ flags: { state: shapeOfInput(listSandboxes.input)['state'] ?? 'text' } }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, { ...commonFlags, state: { type: 'string' } });
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const json = flagIsSet(flags, 'json');
    const state = flagValue(flags, 'state');
    const client = createClient(await connectionOf(flags, io));
    const parameters = state === undefined ? {} : { state };
    const asked = { tool: listSandboxes, key: 'sandboxes', parameters };
    const { items: sandboxes, problem } = await allPages<SandboxView>(client, asked, io.signal);
    if (problem) return printProblem(problem, json, io);
    if (json) io.stdout.write(`${JSON.stringify({ sandboxes, total_count: sandboxes.length })}\n`);
    else if (sandboxes.length === 0) io.stdout.write('There are no sandboxes.\n');
    else io.stdout.write(`${table(sandboxes.map(toRow))}\n`);
    return 0;
  },
};

function toRow({ name, id, state, operation, language, resources, created_at }: SandboxView) {
  return {
    name,
    id,
    state: operation ? `${state} (${operation})` : state,
    language,
    cpu: resources.cpu,
    memory: `${resources.memory} GB`,
    disk: `${resources.disk} GB`,
    created: created_at,
  };
}
