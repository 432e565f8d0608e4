/** Conversation with one egress program, from its start to its end. Commands are numbered, and answered one by one. */
import type { Writable } from 'node:stream';
import type { NetworkReport } from '../../../../model/network/traffic.ts';
import type { StartedProgram } from '../../../start-program.ts';
import { type EgressAnswer, type EgressCommand, type EgressPorts, parseAnswer } from './messages.ts';

export type EgressProgram = StartedProgram<Writable>;

export interface Conversation {
  ports: EgressPorts;
  /**
   * Resolves once the command is in force. Rejects with `CommandRefused` when the program refuses it, and otherwise when the
   * program has ended or takes over 5 s, and is killed.
   */
  send(command: EgressCommand): Promise<void>;
  /** Resolves to the reason when the program has ended. */
  ended: Promise<string>;
  kill(): void;
  /** Closes its input, after which it ends by itself; kills it when it does not. */
  close(): Promise<void>;
}

/** The program runs, and will not do this one command. */
export class CommandRefused extends Error {}

const ANSWER_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
const LINE_BYTES = 1024 ** 2;
const LAST_WORDS_CHARS = 1_000;
/** Reasons go to the log, and could quote what was refused. */
const UNTOLD = 'the reason is not shown, because the policy has secrets';
/** Number that stands for the program's first message in place of a command's. */
const READY = 0;

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** Resolves when the program is ready. Rejects, with the program killed, when that takes over 5 s. */
export async function converse(
  program: EgressProgram,
  onEvents: (events: NetworkReport[]) => void,
): Promise<Conversation> {
  const waiting = new Map<number, Waiting>();
  let ports: EgressPorts | null = null;
  let last = READY;
  let isOver = false;

  const kill = () => void program.kill('SIGKILL');
  const ended = endOf(program).then((reason) => {
    isOver = true;
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
    return reason;
  });

  function take(answer: EgressAnswer): void {
    if (answer.kind === 'events') {
      onEvents(answer.events);
      return;
    }
    if (answer.kind === 'ready') ports = answer.ports;
    const id = answer.kind === 'ready' ? READY : answer.id;
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (answer.kind === 'failed') waiter?.reject(new CommandRefused(answer.why));
    else waiter?.resolve();
  }

  function answerTo(id: number): Promise<void> {
    if (isOver) return Promise.reject(new Error('the egress program has ended'));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.delete(id);
      reject(new Error('the egress program does not answer'));
      kill();
    }, ANSWER_TIMEOUT_MS);
    waiting.set(id, { resolve, reject });
    return promise.finally(() => clearTimeout(timer));
  }

  const onLine = (line: string): void => {
    try {
      take(parseAnswer(line));
    } catch {
      kill();
    }
  };
  const ready = answerTo(READY);
  program.stdout.on('data', readLines(LINE_BYTES, onLine, kill));
  program.stdin.on('error', () => {});
  await ready;
  if (ports === null) throw new Error('the egress program has no ports');

  return {
    ports,
    ended,
    kill,
    async send(command) {
      last += 1;
      const line = `${JSON.stringify({ id: last, ...command })}\n`;
      // The program would end, and with it the connections of all others.
      if (Buffer.byteLength(line) > LINE_BYTES) throw new CommandRefused('the command is too long');
      const answer = answerTo(last);
      program.stdin.write(line);
      await answer.catch((error) => {
        throw error instanceof CommandRefused && hasSecrets(command) ? new CommandRefused(UNTOLD) : error;
      });
    },
    async close() {
      program.stdin.end();
      const timer = setTimeout(kill, CLOSE_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

function hasSecrets(command: EgressCommand): boolean {
  return 'set' in command && command.set.secrets !== undefined;
}

/** Resolves to how the program ended, with the last of what it wrote to its standard error. */
function endOf(program: EgressProgram): Promise<string> {
  let lastWords = '';
  program.stderr.on('data', (piece: Buffer) => {
    lastWords = (lastWords + piece.toString()).slice(-LAST_WORDS_CHARS);
  });
  return new Promise((resolve) => {
    program.once('close', (code, signal) => {
      const said = lastWords.trim() === '' ? '' : `: ${lastWords.trim()}`;
      resolve(`the egress program ended with ${code ?? signal}${said}`);
    });
  });
}

/**
 * Splits a stream of bytes into lines.
 * @param onLine Receives each complete line, without its end.
 * @param onTooLong Called once for a line over `mostBytes`; the rest of the stream is ignored.
 */
export function readLines(
  mostBytes: number,
  onLine: (line: string) => void,
  onTooLong: () => void,
): (piece: Buffer) => void {
  let begun: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  return (piece) => {
    let rest = piece;
    while (!isOver && rest.length > 0) {
      const end = rest.indexOf(0x0a);
      const part = end < 0 ? rest : rest.subarray(0, end);
      begun.push(part);
      bytes += part.length;
      if (bytes > mostBytes) {
        isOver = true;
        begun = [];
        onTooLong();
        return;
      }
      if (end < 0) return;
      const line = Buffer.concat(begun).toString();
      begun = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
  };
}
