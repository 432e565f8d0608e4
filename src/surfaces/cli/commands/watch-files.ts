/** `sandhaven files watch`: prints changes below a folder as they happen, until it is interrupted or the folder is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileChange } from '../../../control/ports/index.ts';
import { readStream } from '../client.ts';
import { type Connection, connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printable, printProblem, ShownOutput } from '../output.ts';

const help = `Usage: sandhaven files watch SANDBOX [PATH] [--recursive] [--user USER]

Prints changes below a folder (default: /workspace) as they happen: created, written, removed, renamed,
attributes. A folder has a slash at its end. overflow says that changes were missed. It ends at Ctrl-C,
and when the folder is gone.

  --recursive        also folders below it, and those that come later
  --user USER        Linux user, from its home

With --json each change is a line: type, path, folder, and from of a rename.

${commonHelp}`;

const PAUSE_MS = 1_000;
const TYPE_CHARS = 10;
const overflow: FileChange = { type: 'overflow' };

export const watchFiles: Command = {
  summary: 'Print changes of files as they happen',
  shape: () => ({ flags: { recursive: 'none', user: 'text' }, takes: ['sandbox'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, {
      ...commonFlags,
      recursive: { type: 'boolean' },
      user: { type: 'string' },
    });
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, path = '.', ...others] = [...flags.positionals, ...(flags.rest ?? [])];
    if (sandbox === undefined) {
      throw usageError('No sandbox is named.', 'Usage: sandhaven files watch SANDBOX [PATH]');
    }
    if (others.length > 0) throw usageError(`'${others[0]}' is one argument too many.`);
    const query = new URLSearchParams({ path, recursive: String(flagIsSet(flags, 'recursive')) });
    const user = flagValue(flags, 'user');
    if (user !== undefined) query.set('user', user);
    const route = `/v1/sandboxes/${encodeURIComponent(sandbox)}/files/watch?${query}`;
    return watch(await connectionOf(flags, io), route, flagIsSet(flags, 'json'), io);
  },
};

/** Watches over as many connections as it takes; changes between two of them are missed. @returns the exit status. */
async function watch(connection: Connection, route: string, json: boolean, io: CliIo): Promise<number> {
  const shown = new ShownOutput(io);
  const onChanges = (changes: FileChange[]) => {
    const lines = changes.map((change) => (json ? JSON.stringify(change) : lineOf(change)));
    return shown.show({ stream: 'stdout', bytes: Buffer.from(`${lines.join('\n')}\n`), leftOutBytes: 0 });
  };
  let hasBegun = false;
  const onBegin = () => {
    if (hasBegun) void onChanges([overflow]);
    hasBegun = true;
  };
  for (;;) {
    const { result, problem } = await readStream(connection, route, {
      ...{ signal: io.signal, onBegin, onChanges },
    });
    if (result) {
      io.stderr.write('The folder is gone.\n');
      return 0;
    }
    if (!hasBegun || problem.code !== 'unavailable') return printProblem(problem, json, io);
    await sleep(PAUSE_MS, undefined, { signal: io.signal });
  }
}

function lineOf(change: FileChange): string {
  if (change.type === 'overflow') return change.type;
  const named = (path: string) => printable(change.folder ? `${path}/` : path);
  const from = change.type === 'renamed' ? `${named(change.from)} -> ` : '';
  return `${change.type.padEnd(TYPE_CHARS)}  ${from}${named(change.path)}`;
}
