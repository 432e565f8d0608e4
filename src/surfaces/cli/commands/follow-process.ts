/** `sandhaven processes follow`: prints what a process writes, until it ends. The process goes on when this is left. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LivePiece } from '../../../control/ports/index.ts';
import { readStream } from '../client.ts';
import { type Connection, connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printable, printProblem, ShownOutput } from '../output.ts';

const help = `Usage: sandhaven processes follow SANDBOX PROCESS [--from N]

Prints the output of a process, named by its pid or tag, from the oldest byte that is kept: standard
output and standard error, each on the same one here. The process waits while nobody reads it here.
The exit status is that of the process. Ctrl-C leaves the process, which goes on.

  --from N           begin at byte N of its output, counted from 0 over both streams

With --json each event is a line: begin with from, output with stream and base64, and at the end
result with exit_code, signal and timed_out.

\`sandhaven processes list SANDBOX\` lists them.

${commonHelp}`;

const PAUSE_MS = 1_000;

export const followProcess: Command = {
  summary: 'Print the output of a process until it ends',
  shape: () => ({ flags: { from: 'text' }, takes: ['sandbox'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, { ...commonFlags, from: { type: 'string' } });
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, process, ...others] = [...flags.positionals, ...(flags.rest ?? [])];
    if (sandbox === undefined || process === undefined) {
      throw usageError('No process is named.', 'Usage: sandhaven processes follow SANDBOX PROCESS');
    }
    if (others.length > 0) throw usageError(`'${others[0]}' is one argument too many.`);
    const from = flagValue(flags, 'from') ?? '0';
    if (!/^\d{1,15}$/.test(from)) throw usageError('--from is not a number of bytes.');
    const connection = await connectionOf(flags, io);
    const route = [sandbox, 'processes', process, 'output'].map(encodeURIComponent).join('/');
    try {
      return await follow(connection, `/v1/sandboxes/${route}`, Number(from), flagIsSet(flags, 'json'), io);
    } catch (error) {
      if (io.signal.aborted) io.stderr.write(`${printable(`Process ${process} of '${sandbox}' goes on.`)}\n`);
      throw error;
    }
  },
};

/** Prints each byte once, over as many connections as it takes. @returns the exit status. */
async function follow(
  connection: Connection,
  path: string,
  from: number,
  json: boolean,
  io: CliIo,
): Promise<number> {
  const shown = new ShownOutput(io);
  const print = (event: string, data: object) => {
    const bytes = Buffer.from(`${JSON.stringify({ event, ...data })}\n`);
    return shown.show({ stream: 'stdout', bytes, leftOutBytes: 0 });
  };
  let position = from;
  let hasBegun = false;
  const onBegin = (begun: number) => {
    if (json) print('begin', { from: begun });
    else if (begun > position) io.stderr.write(`${begun - position} bytes before this are no longer kept.\n`);
    hasBegun = true;
    position = begun;
  };
  const show = (piece: LivePiece) => {
    const { stream, bytes } = piece;
    position += bytes.length;
    return json ? print('output', { stream, base64: bytes.toString('base64') }) : shown.show(piece);
  };
  const options = { signal: io.signal, onBegin, onOutput: { whole: true, show } };
  for (;;) {
    const { result, problem } = await readStream(connection, `${path}?from=${position}`, options);
    if (result) {
      if (json) print('result', result);
      else if (result['timed_out']) io.stderr.write('The process was killed at its timeout.\n');
      return Number(result['exit_code']);
    }
    if (!hasBegun || problem.code !== 'unavailable') return printProblem(problem, json, io);
    await sleep(PAUSE_MS, undefined, { signal: io.signal });
  }
}
