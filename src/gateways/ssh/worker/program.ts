/** Runs a program of the sandbox on a client's channel: bytes both ways, requests, and its exact exit. */
import type { Duplex } from 'node:stream';
import type { ServerChannel, Session } from 'ssh2';
import type { ProcessEnd, RunningProcess, TerminalSize } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { ChannelWriter, feed, pour } from './channel-writer.ts';
import { hearRequests } from './ssh2-workarounds.ts';

/** Signals reported by name; others are reported by number, as shells do. */
const SIGNALS = /^SIG(?:ABRT|ALRM|FPE|HUP|ILL|INT|KILL|PIPE|QUIT|SEGV|TERM|USR1|USR2)$/;
/** Exit code of ssh itself when the connection and not the program failed. */
const NO_PROGRAM = 255;
const HANG_UP_AGAIN_MS = 100;

export interface ProgramPlace {
  session: Session;
  channel: ServerChannel;
  /** Transport of the connection. */
  stream: Duplex;
  /** Resolves when the client has closed the channel, or is gone. */
  closed: Promise<void>;
}

/** Resolves when the program has ended and the client has all of its output, or when the client is gone. */
export async function runProgram(
  place: ProgramPlace,
  open: (signal: AbortSignal) => Promise<RunningProcess>,
): Promise<void> {
  const { channel } = place;
  const writer = new ChannelWriter(channel, place.stream, place.closed);
  const opening = new AbortController();
  // Cancels only the opening: a running program is hung up on, and not killed at once.
  let isOpen = false;
  void place.closed.then(() => isOpen || opening.abort(new Error('The client closed the channel.')));
  try {
    const process = await open(opening.signal);
    isOpen = true;
    reportExit(channel, await converse(place, process, writer));
  } catch (error) {
    await writer.err(Buffer.from(`${wordsOf(error)}\r\n`));
    reportExit(channel, { exitCode: NO_PROGRAM, signal: null });
  }
  channel.end();
}

/** Writes a line as error output and ends the channel like a failed program. */
export async function failProgram({ channel, stream, closed }: ProgramPlace, words: string): Promise<void> {
  await new ChannelWriter(channel, stream, closed).err(Buffer.from(`${words}\r\n`));
  reportExit(channel, { exitCode: NO_PROGRAM, signal: null });
  channel.end();
}

async function converse(
  place: ProgramPlace,
  process: RunningProcess,
  writer: ChannelWriter,
): Promise<ProcessEnd> {
  const { channel, session, closed } = place;
  let running = true;
  process.ended.then(
    () => {
      running = false;
    },
    () => {
      running = false;
    },
  );
  void closed.then(() => hangUp(process, () => running));
  hearRequests(session, {
    resize: ({ columns, rows }) => running && process.resize(terminalSize(columns, rows)),
    signal: (name) => running && process.signal(name),
  });
  feed(channel, process.stdin);
  const output = Promise.all([
    pour(process.stdout, (chunk) => writer.out(chunk)),
    pour(process.stderr, (chunk) => writer.err(chunk)),
  ]);
  // Awaited later; until then a failure must not count as an unhandled rejection.
  output.catch(() => {});
  const end = await process.ended;
  await Promise.race([output, closed]);
  return end;
}

/**
 * Hangs up like a terminal: processes made to outlive it (tmux, nohup) continue once the program itself has
 * ended; a program that stays is killed with its whole tree. The foreground process gets SIGHUP first, so the
 * signal is repeated until the shell behind it has it too.
 */
function hangUp(process: RunningProcess, running: () => boolean): void {
  if (!running()) return;
  process.stdin.end();
  process.signal('HUP');
  const again = setInterval(() => process.signal('HUP'), HANG_UP_AGAIN_MS);
  const last = setTimeout(() => process.close(), limits.ssh.hangUpGraceMs);
  const done = () => {
    clearInterval(again);
    clearTimeout(last);
  };
  process.ended.then(done, done);
}

function reportExit(channel: ServerChannel, { exitCode, signal }: ProcessEnd): void {
  if (signal !== null && SIGNALS.test(signal)) channel.exit(signal, false, '');
  else channel.exit(exitCode);
}

function wordsOf(error: unknown): string {
  if (!(error instanceof SandhavenError)) return 'An internal error occurred.';
  return [error.message, error.fields.hint].filter(Boolean).join(' ');
}

const USUAL = { columns: 80, rows: 24 };

/** Bounds terminal sizes of clients: 0 for an unknown one, or any 32 bits. */
export function terminalSize(columns: number, rows: number): TerminalSize {
  const { terminalCells } = limits.ssh;
  return {
    columns: Math.min(columns || USUAL.columns, terminalCells),
    rows: Math.min(rows || USUAL.rows, terminalCells),
  };
}
