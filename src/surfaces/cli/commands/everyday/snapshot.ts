/** `sandhaven snapshot`: makes, lists, shows and deletes snapshots. */
import { z } from 'zod';
import { deleteSnapshot } from '../../../../administration/sandboxes.ts';
import { createSnapshot } from '../../../../catalog/snapshots/create-snapshot.ts';
import { snapshotSandbox } from '../../../../catalog/snapshots/forks.ts';
import { getSnapshot, listSnapshots } from '../../../../catalog/snapshots/snapshots.ts';
import { createAdminClient, createClient } from '../../client.ts';
import { connectionOf } from '../../connection.ts';
import { familyVerb } from '../../family-verb.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { Command } from '../../io.ts';
import { printable, printProblem, render, table } from '../../output.ts';
import { allPages, choosingVerb, eachVerb } from '../../tool-verb.ts';

interface SnapshotView {
  name: string;
  id: string;
  state: string;
  image: string;
  source?: { id: string; name: string };
  size_bytes: number | null;
  created_at: string;
}

const named = { of: 'snapshot', listedBy: 'sandhaven snapshot ls' } as const;

const create = choosingVerb({
  usage: 'sandhaven snapshot create',
  summary: 'make one from a container image, or from a sandbox',
  description: `${createSnapshot.description} With --from: ${snapshotSandbox.description}`,
  input: z.strictObject({
    from: z
      .string()
      .optional()
      .describe('Sandbox, by name or ID, in place of an image. It takes only --name beside it.'),
    ...createSnapshot.input.partial({ name: true, image: true }).shape,
  }),
  names: { from: { of: 'sandbox' } },
  choose({ from, ...given }) {
    if (from !== undefined && given['image'] !== undefined)
      throw usageError(
        'A snapshot is made from an image or from a sandbox.',
        'Give --image or --from, not both.',
      );
    if (from !== undefined) return [snapshotSandbox, { ...given, sandbox: from }];
    if (given['image'] !== undefined) return [createSnapshot, given];
    throw usageError('Nothing is named to make a snapshot from.', 'Give --image IMAGE or --from SANDBOX.');
  },
  print: ({ name, id, state }) =>
    `${printable(`${name}  ${id}`)}\n` +
    (state === 'active'
      ? ''
      : `It is ${state}: \`sandhaven snapshot inspect '${name}'\` shows its progress.\n`),
});

const ls: Command = {
  summary: 'list them',
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(
        `Usage: sandhaven snapshot ls [--json]\n\nLists all your snapshots, newest first.\n\n${commonHelp}`,
      );
      return 0;
    }
    const json = flagIsSet(flags, 'json');
    const client = createClient(await connectionOf(flags, io));
    const asked = { tool: listSnapshots, key: 'snapshots' };
    const { items: snapshots, problem } = await allPages<SnapshotView>(client, asked, io.signal);
    if (problem) return printProblem(problem, json, io);
    if (json) io.stdout.write(`${JSON.stringify({ snapshots, total_count: snapshots.length })}\n`);
    else if (snapshots.length === 0) io.stdout.write('There are no snapshots.\n');
    else io.stdout.write(`${table(snapshots.map(toRow))}\n`);
    return 0;
  },
};

const inspect = eachVerb({
  ...named,
  usage: 'sandhaven snapshot inspect',
  summary: 'show all about them',
  definition: getSnapshot,
  call: (connection) => {
    const client = createClient(connection);
    return (parameters, options) => client(getSnapshot, parameters, options);
  },
  print: (result, { stdout }) => void stdout.write(`${render(result)}\n`),
});

const rm = eachVerb({
  ...named,
  usage: 'sandhaven snapshot rm',
  summary: 'delete them',
  definition: deleteSnapshot,
  call: (connection) => {
    const client = createAdminClient(connection);
    return (parameters, options) => client(deleteSnapshot, parameters, options);
  },
  print: ({ name, id }, { stdout }) =>
    void stdout.write(`${printable(`Snapshot '${name}' (${id}) was deleted.`)}\n`),
});

export const snapshot = familyVerb('snapshot', 'make, list, show and delete snapshots', {
  create,
  ls,
  inspect,
  rm,
});

function toRow({ name, id, state, image, source, size_bytes, created_at }: SnapshotView) {
  const size = size_bytes === null ? null : `${(size_bytes / 1e6).toFixed(1)} MB`;
  return { name, id, state, source: source ? sourceText(source) : image, size, created: created_at };
}

const sourceText = ({ id, name }: { id: string; name: string }): string =>
  id.startsWith('build_') ? `build of ${name}` : `sandbox ${name}`;
