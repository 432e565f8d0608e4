/** `sandhaven attach`: shows a terminal of a sandbox in this one. The terminal there goes on when this is left. */
import { SandhavenError, toProblem } from '../../../model/errors.ts';
import { newRequestId } from '../../../model/ids.ts';
import type { Ending } from '../attach/attachment.ts';
import { DetachKeys, LocalTerminal, parseDetachKeys } from '../attach/local-terminal.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import { type CliIo, type Command, EXIT_INTERRUPTED } from '../io.ts';
import { printable, printProblem } from '../output.ts';

const USUAL_KEYS = 'ctrl-p,ctrl-q';

const help = `Usage: sandhaven attach SANDBOX [--terminal NAME]

Shows a terminal of a sandbox, and makes it where none has the name. It keeps running when you leave
it with ctrl-p ctrl-q, or close the window: attach again, from anywhere, to see its output. Several
people may share one terminal. The exit status is that of its shell; 0 when you leave it.

  --terminal NAME      the terminal (default: main)
  -u, --user USER      Linux user of a new terminal (default: root)
  --cwd DIR            folder of a new terminal, absolute, or relative to /workspace or the user's home
  --detach-keys KEYS   keys that leave it, such as ctrl-],d, or none (default: ${USUAL_KEYS})

\`sandhaven terminals list SANDBOX\` lists them, \`sandhaven terminals end\` ends one.

${commonHelp}`;

const flagSpecs = {
  ...commonFlags,
  terminal: { type: 'string' },
  user: { type: 'string', short: 'u' },
  cwd: { type: 'string' },
  'detach-keys': { type: 'string' },
} as const;

export const attach: Command = {
  summary: 'show a terminal of a sandbox, which keeps running without you',
  shape: () => ({ takes: ['sandbox'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, flagSpecs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, ...others] = [...flags.positionals, ...(flags.rest ?? [])];
    if (sandbox === undefined) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    if (others.length > 0) throw usageError(`'${others[0]}' is one argument too many.`);
    const keys = new DetachKeys(parseDetachKeys(flagValue(flags, 'detach-keys') ?? USUAL_KEYS));
    const local = new LocalTerminal(io);
    const terminal = flagValue(flags, 'terminal') ?? 'main';
    const [user, cwd] = [flagValue(flags, 'user'), flagValue(flags, 'cwd')];
    const target = { sandbox, terminal, size: local.size, user, cwd };
    const connection = await connectionOf(flags, io);
    // Loaded on use, so that other commands start quickly.
    const { Attachment } = await import('../attach/attachment.ts');
    const { openTerminal } = await import('../attach/terminal-client.ts');
    const attachment = new Attachment(io, local, keys);
    const listen = attachment.listenTo.bind(attachment);
    const { problem } = await openTerminal(connection, target, listen, io.signal);
    const json = flagIsSet(flags, 'json');
    if (problem) return printProblem(problem, json, io);
    return report(await attachment.hold(), target, json, io);
  },
};

function report(
  ending: Ending,
  { sandbox, terminal }: { sandbox: string; terminal: string },
  json: boolean,
  io: CliIo,
): number {
  switch (ending.kind) {
    case 'exited':
      return ending.code;
    case 'detached':
      io.stderr.write(
        printable(`Detached from terminal '${terminal}' of '${sandbox}', which keeps running.`),
      );
      io.stderr.write('\n');
      return 0;
    case 'interrupted':
      return EXIT_INTERRUPTED;
    case 'failed':
      return printProblem(ending.problem, json, io);
    case 'lost':
      return printProblem(toProblem(lost(ending), newRequestId()), json, io);
  }
}

function lost({ code, reason }: { code: number; reason: string }): SandhavenError {
  const words = reason === '' ? `with code ${code}` : `with code ${code}, ${reason.replace(/\.$/, '')}`;
  return new SandhavenError('unavailable', `The connection to the service ended ${words}.`, {
    hint: 'Attach again: the terminal keeps running while its sandbox does.',
  });
}
