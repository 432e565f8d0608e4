/**
 * Runs programs as children of a small process (`native/launcher/src/spawner/`). This process's own fork copies the
 * page tables of all its memory, and blocks every call meanwhile.
 *
 * A spawner that has ended is replaced at the next program. Its programs count as failed: each caller clears away what
 * its program may have left, as after any failure.
 */
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { type StartedProgram, startProgram } from '../start-program.ts';
import { type Answer, AnswerReader, killRequest, netfilterRequest, startRequest } from './frames.ts';
import type { ProgramEnd, ProgramOptions, Runner, RunningProgram } from './run-program.ts';

export interface Spawner extends Required<Runner> {
  /** Ends the process without waiting for programs that still run. */
  close(): void;
}

const LAST_WORDS_CHARS = 1_000;

interface Waiting extends Pick<ProgramOptions, 'onStdout' | 'onStderr'> {
  resolve(end: ProgramEnd): void;
  reject(error: Error): void;
}

/** One spawner, and its running programs by their numbers. */
interface Connection {
  process: StartedProgram<Writable>;
  waiting: Map<number, Waiting>;
}

/** @param launcherPath Path of the launcher; the spawner is one of its commands. */
export function createSpawner(launcherPath: string): Spawner {
  let current: Promise<Connection> | null = null;
  let last = 0;

  /** Returns the present connection, or a new one. */
  function connect(): Promise<Connection> {
    if (current) return current;
    const made = open(launcherPath, () => {
      if (current === made) current = null;
    });
    current = made;
    return made;
  }

  function next(): number {
    last = (last + 1) % 2 ** 32;
    return last;
  }

  return {
    run(file, args, options) {
      const id = next();
      return begin(connect(), id, startRequest(id, file, args, options), options);
    },

    async netfilter(messages) {
      const id = next();
      const answers: Buffer[] = [];
      const heard = { onStdout: (piece: Buffer) => void answers.push(piece), onStderr() {} };
      await begin(connect(), id, netfilterRequest(id, messages), heard).ended;
      return Buffer.concat(answers);
    },

    close() {
      void current?.then(({ process }) => process.stdin.end()).catch(() => {});
      current = null;
    },
  };
}

async function open(launcherPath: string, onEnd: () => void): Promise<Connection> {
  const process = await startProgram(launcherPath, ['spawner'], { input: true, detached: true }).catch(
    (error) => {
      onEnd();
      throw error;
    },
  );
  const waiting: Connection['waiting'] = new Map();
  const reader = new AnswerReader();
  process.stdout.on('data', (piece: Buffer) => {
    for (const answer of reader.read(piece)) take(waiting, answer);
    if (waiting.size === 0) release(process);
  });
  process.stdin.on('error', () => {});
  let lastWords = '';
  process.stderr.on('data', (piece: Buffer) => {
    lastWords = (lastWords + piece.toString()).slice(-LAST_WORDS_CHARS);
  });
  process.once('close', () => {
    onEnd();
    const said = lastWords.trim() === '' ? '' : `: ${lastWords.trim()}`;
    for (const { reject } of waiting.values()) {
      reject(new Error(`the process that starts programs has ended${said}`));
    }
    waiting.clear();
  });
  process.unref();
  release(process);
  return { process, waiting };
}

function begin(
  connecting: Promise<Connection>,
  id: number,
  request: Buffer,
  { onStdout, onStderr }: Pick<ProgramOptions, 'onStdout' | 'onStderr'>,
): RunningProgram {
  const ended = connecting.then(
    ({ process, waiting }) =>
      new Promise<ProgramEnd>((resolve, reject) => {
        waiting.set(id, { resolve, reject, onStdout, onStderr });
        hold(process);
        process.stdin.write(request);
      }),
  );
  const kill = async (): Promise<void> => {
    const { process, waiting } = await connecting;
    if (waiting.has(id)) process.stdin.write(killRequest(id));
  };
  return { ended, kill: () => void kill().catch(() => {}) };
}

function take(waiting: Map<number, Waiting>, answer: Answer): void {
  const run = waiting.get(answer.id);
  if (!run) return;
  switch (answer.kind) {
    case 'stdout':
      run.onStdout(answer.bytes);
      break;
    case 'stderr':
      run.onStderr(answer.bytes);
      break;
    case 'ended':
      waiting.delete(answer.id);
      run.resolve(answer.end);
      break;
    case 'failed':
      waiting.delete(answer.id);
      run.reject(answer.error);
  }
}

/** Keeps this process from ending while a program runs. */
function hold({ stdin, stdout }: Connection['process']): void {
  for (const stream of [stdin, stdout]) (stream as unknown as Socket).ref();
}

/** Lets this process end while the spawner runs no program. */
function release({ stdin, stdout, stderr }: Connection['process']): void {
  for (const stream of [stdin, stdout, stderr]) (stream as unknown as Socket).unref();
}
