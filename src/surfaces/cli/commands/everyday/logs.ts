/** `sandhaven logs`: the output of a session's command, so far or as it comes. */
import { once } from 'node:events';
import { getSessionCommandLogs, listSessions } from '../../../../catalog/execution/sessions.ts';
import { type Problem, SandhavenError } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { type Client, createClient } from '../../client.ts';
import { connectionOf } from '../../connection.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { CliIo, Command } from '../../io.ts';
import { printProblem, ShownOutput } from '../../output.ts';

const help = `Usage: sandhaven logs SANDBOX SESSION [COMMAND] [--follow]

Prints what a command of a session has printed so far. Without COMMAND it is the newest one.

  -f, --follow       go on until the command ends, or an interrupt

With --follow, --json prints an object a line, for each piece of output.

${commonHelp}`;

const flagSpecs = { ...commonFlags, follow: { type: 'boolean', short: 'f' } } as const;

interface Target {
  sandbox: string;
  session_id: string;
  command_id: string;
}

export const logs: Command = {
  summary: 'show the output of a command of a session',
  shape: () => ({ flags: { follow: 'none' }, takes: ['sandbox'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, flagSpecs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, session, given, extra] = [...flags.positionals, ...(flags.rest ?? [])];
    if (sandbox === undefined) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    if (session === undefined) {
      const hint = '`sandhaven call Sandbox.ListSessions --sandbox NAME` lists them.';
      throw usageError('No session is named.', hint);
    }
    if (extra !== undefined) throw usageError(`'${extra}' is one argument too many.`);
    const json = flagIsSet(flags, 'json');
    const client = createClient(await connectionOf(flags, io));
    const command = given ?? (await newestCommand(client, sandbox, session, io));
    if (typeof command !== 'string') return printProblem(command, json, io);
    const target = { sandbox, session_id: session, command_id: command };
    const follow = flagIsSet(flags, 'follow');
    if (json && !follow) return printWhole(client, target, io);
    return printPieces(client, target, { follow, json }, io);
  },
};

/** Returns the ID of the newest command, or the problem of a service that gave no list. */
async function newestCommand(
  client: Client,
  sandbox: string,
  session: string,
  io: CliIo,
): Promise<string | Problem> {
  const { result, problem } = await client(listSessions, { sandbox }, { signal: io.signal });
  if (problem) return problem;
  const sessions = result['sessions'] as { session_id: string; recent_commands: { command_id: string }[] }[];
  const found = sessions.find(({ session_id }) => session_id === session);
  if (!found) {
    const names = sessions.map(({ session_id }) => session_id).join(', ');
    throw new SandhavenError('not_found', `There is no session '${session}' in '${sandbox}'.`, {
      resource: 'session',
      hint: names ? `Its sessions are ${names}.` : 'It has none; Sandbox.CreateSession makes one.',
    });
  }
  const [newest] = found.recent_commands;
  if (newest) return newest.command_id;
  throw new SandhavenError('not_found', `Session '${session}' has run no command yet.`, {
    resource: 'command',
    hint: 'Run one with `sandhaven call Sandbox.RunSessionCommand`.',
  });
}

async function printWhole(client: Client, target: Target, io: CliIo): Promise<number> {
  const { result, problem } = await client(getSessionCommandLogs, { ...target }, { signal: io.signal });
  if (problem) return printProblem(problem, true, io);
  io.stdout.write(`${JSON.stringify(result)}\n`);
  return 0;
}

/** Reads piece after piece, so that a long log is in memory at no time. */
async function printPieces(
  client: Client,
  target: Target,
  { follow, json }: { follow: boolean; json: boolean },
  io: CliIo,
): Promise<number> {
  const { stdout, signal } = io;
  const wait_seconds = follow ? limits.session.followSeconds.max : 0;
  for (let offset = 0; ; ) {
    const asked = { ...target, offset, wait_seconds };
    const shown = json ? null : new ShownOutput(io);
    const options = { signal, ...(shown ? { onOutput: shown } : {}) };
    const { result, problem } = await client(getSessionCommandLogs, asked, options);
    if (problem) return printProblem(problem, json, io);
    const output = String(result['output']);
    const isNew = output !== '';
    const ended = result['status'] === 'completed';
    const text = json ? `${JSON.stringify(result)}\n` : output;
    // An earlier service shows nothing beside the result.
    const due = json ? isNew || ended : !shown?.has('stdout');
    if (due && !stdout.write(text)) await once(stdout, 'drain', { signal });
    const next = Number(result['next_offset'] ?? offset);
    // More may wait than one answer holds, even after the end.
    if (!isNew && (ended || !follow)) return 0;
    if (next <= offset && !follow) return 0;
    offset = Math.max(next, offset);
  }
}
