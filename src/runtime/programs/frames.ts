/** Frames between this process and the spawner, as defined in `native/launcher/src/spawner/frame.rs`. */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { ProgramEnd, ProgramOptions } from './run-program.ts';

const HEADER_BYTES = 9;
/** Longest frame; the spawner ends on a longer one. */
const MOST_BYTES = 16 * 1024 ** 2;
const START = 0;
const KILL = 1;
const NETFILTER = 2;

export type Answer =
  | { kind: 'stdout'; id: number; bytes: Buffer }
  | { kind: 'stderr'; id: number; bytes: Buffer }
  | { kind: 'ended'; id: number; end: ProgramEnd }
  | { kind: 'failed'; id: number; error: NodeJS.ErrnoException };

/** @throws Error for a string with a zero byte, and for a frame that is too long. */
export function startRequest(
  id: number,
  file: string,
  args: string[],
  { env, input = '' }: Pick<ProgramOptions, 'env' | 'input'>,
): Buffer {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const texts = [file, ...args, ...variables];
  if (texts.some((text) => text.includes('\0'))) throw new Error('a zero byte in an argument of a program');
  const counts = Buffer.alloc(8);
  counts.writeUInt32LE(args.length + 1, 0);
  counts.writeUInt32LE(variables.length, 4);
  return frame(START, id, [
    counts,
    Buffer.from(texts.map((text) => `${text}\0`).join('')),
    Buffer.from(input),
  ]);
}

export function killRequest(id: number): Buffer {
  return frame(KILL, id, []);
}

export function netfilterRequest(id: number, messages: Buffer): Buffer {
  return frame(NETFILTER, id, [messages]);
}

/** Reads answers from pieces of any length. */
export class AnswerReader {
  #held: Buffer = Buffer.alloc(0);

  read(piece: Buffer): Answer[] {
    this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const answers: Answer[] = [];
    for (;;) {
      const end = this.#held.length < 4 ? Number.POSITIVE_INFINITY : 4 + this.#held.readUInt32LE(0);
      if (this.#held.length < end) return answers;
      answers.push(parseAnswer(this.#held.subarray(0, end)));
      this.#held = this.#held.subarray(end);
    }
  }
}

function parseAnswer(bytes: Buffer): Answer {
  const [kind, id, rest] = [bytes.readUInt8(4), bytes.readUInt32LE(5), bytes.subarray(HEADER_BYTES)];
  switch (kind) {
    case 0:
      return { kind: 'stdout', id, bytes: rest };
    case 1:
      return { kind: 'stderr', id, bytes: rest };
    case 2:
      return { kind: 'ended', id, end: parseEnd(rest.readInt32LE(0), rest.readInt32LE(4)) };
    default:
      return { kind: 'failed', id, error: systemError(rest.readInt32LE(0)) };
  }
}

function parseEnd(code: number, signal: number): ProgramEnd {
  if (code >= 0) return { code, signal: null };
  const named = Object.entries(constants.signals).find(([, number]) => number === signal);
  return { code: null, signal: (named?.[0] ?? 'SIGKILL') as NodeJS.Signals };
}

/** Makes an error in the form of Node's own. */
function systemError(errno: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`spawn ${code}`), { code, errno: -errno, syscall: 'spawn' });
}

function frame(kind: number, id: number, parts: Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (HEADER_BYTES + length > MOST_BYTES) throw new Error('the input of a program is too long');
  header.writeUInt32LE(HEADER_BYTES - 4 + length, 0);
  header.writeUInt8(kind, 4);
  header.writeUInt32LE(id, 5);
  return Buffer.concat([header, ...parts]);
}
