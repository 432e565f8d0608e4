/**
 * One viewer of a terminal on a WebSocket. Binary messages are the terminal's bytes, text messages small JSON objects.
 * Backpressure holds both ways: a client that does not read gets the newest later, and one that types faster than the
 * program reads is not read from.
 */
import { WebSocket } from 'ws';
import { z } from 'zod';
import { validateInput } from '../../../catalog/validate.ts';
import type { TerminalSink, TerminalSize, TerminalView } from '../../../control/ports/index.ts';
import { invalidArgument, type Problem, SandhavenError, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

/** Codes of RFC 6455; any other error closes with 4000 and its status over HTTP. */
export const closeCodes = { normal: 1000, goingAway: 1001, policy: 1008, internal: 1011, problem: 4000 };

const { columns, rows, unsentBytes } = limits.terminal;

const resize = z.strictObject({
  type: z.literal('resize'),
  cols: z.int().min(columns.min).max(columns.max),
  rows: z.int().min(rows.min).max(rows.max),
});

const shown = z.strictObject({ type: z.literal('shown'), bytes: z.int().min(1) });

export class TerminalSocket implements TerminalSink {
  readonly #socket: WebSocket;
  readonly #view: TerminalView;
  readonly #requestId: string;
  /** Bytes that the client takes before it has shown any; null for one that its connection alone holds back. */
  readonly #windowBytes: number | null;
  /** Bytes sent that the client has not shown yet. */
  #unshownBytes = 0;
  readonly #left = Promise.withResolvers<null>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #pings: NodeJS.Timeout;
  /** The agent waits: too much is unsent. */
  #isFull = false;
  /** The client has been heard of since the last ping. */
  #isAlive = true;

  constructor(socket: WebSocket, view: TerminalView, requestId: string, windowBytes: number | null) {
    this.#socket = socket;
    this.#view = view;
    this.#requestId = requestId;
    this.#windowBytes = windowBytes;
    this.#pings = setInterval(() => this.#ping(), limits.terminal.pingMs);
    const heard = () => {
      this.#isAlive = true;
    };
    socket.on('ping', heard);
    socket.on('pong', heard);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    // `ws` closes by itself after a breach of the WebSocket protocol.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(this.#pings);
      this.#left.resolve(null);
      this.#closed.resolve();
    });
    view.input.on('drain', () => socket.resume());
  }

  /** Resolves when the connection is gone. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Resolves when the terminal has ended or the client has left; rejects when the terminal cannot be seen any more. */
  async carry(terminal: string): Promise<void> {
    const { created, createdAtMs, size, scrollbackBytes } = this.#view;
    this.#say({
      ...{ type: 'ready', terminal, created, created_at: new Date(createdAtMs).toISOString() },
      ...{ ...inCells(size), scrollback_bytes: scrollbackBytes },
    });
    this.#view.show(this);
    const end = await Promise.race([this.#view.ended, this.#left.promise]);
    if (!end) return;
    this.#say({ type: 'exit', code: end.exitCode, signal: end.signal });
    this.close(closeCodes.normal, 'The shell has ended.');
  }

  data(bytes: Buffer): boolean {
    this.#unshownBytes += bytes.length;
    return this.#send(bytes, true);
  }

  skipped(bytes: number): boolean {
    return this.#say({ type: 'skipped', bytes });
  }

  resized(size: TerminalSize): boolean {
    return this.#say({ type: 'size', ...inCells(size) });
  }

  /** Ends the connection with the reason, as a message and as a code. */
  fail(problem: Problem): void {
    this.#say({ ...problem, type: 'error' });
    this.close(codeOf(problem), problem.title);
  }

  /** Ends the connection; the terminal goes on. */
  close(code: number, reason: string): void {
    this.#left.resolve(null);
    // A paused connection would not hear the client's answer.
    this.#socket.resume();
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#isAlive = true;
    const { input } = this.#view;
    if (this.#socket.readyState !== WebSocket.OPEN || input.destroyed) return;
    if (!isBinary) this.#obey(data);
    else if (!input.write(data)) this.#socket.pause();
  }

  #obey(data: Buffer): void {
    try {
      const message = controlOf(data);
      if (message.type === 'resize') this.#view.resize({ columns: message.cols, rows: message.rows });
      else this.#shown(message.bytes);
    } catch (error) {
      this.fail(toProblem(error, this.#requestId));
    }
  }

  /** The browser's WebSocket cannot be paused: its page reports progress instead. */
  #shown(bytes: number): void {
    if (bytes > this.#unshownBytes) {
      throw invalidArgument(
        'bytes',
        'More bytes were reported than were sent.',
        'Report each byte once, after it is shown.',
      );
    }
    this.#unshownBytes -= bytes;
    this.#mayResume();
  }

  #say(message: object): boolean {
    return this.#send(Buffer.from(JSON.stringify(message)), false);
  }

  #send(bytes: Buffer, binary: boolean): boolean {
    const socket = this.#socket;
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(bytes, { binary }, () => this.#sent());
    this.#isFull ||= socket.bufferedAmount > unsentBytes || this.#unshownBytes > this.#windowOf();
    return !this.#isFull;
  }

  #sent(): void {
    if (!this.#isFull) return;
    // A client that reads slowly answers a ping late, and is there all the same.
    this.#isAlive = true;
    this.#mayResume();
  }

  #mayResume(): void {
    if (!this.#isFull || this.#socket.bufferedAmount > unsentBytes / 2) return;
    if (this.#unshownBytes > this.#windowOf() / 2) return;
    this.#isFull = false;
    this.#view.resume();
  }

  #windowOf(): number {
    return this.#windowBytes ?? Number.POSITIVE_INFINITY;
  }

  #ping(): void {
    // Nothing is heard of a client while it is not read from; writing to one that is gone fails.
    if (!this.#isAlive && !this.#socket.isPaused) this.#socket.terminate();
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#isAlive = false;
    this.#socket.ping();
  }
}

function controlOf(data: Buffer): z.output<typeof resize | typeof shown> {
  const hint =
    'Send {"type":"resize","cols":80,"rows":24} or {"type":"shown","bytes":4096}; what is typed comes in binary messages.';
  if (data.length > limits.terminal.controlBytes)
    throw invalidArgument('type', 'The message is too large.', hint);
  try {
    const message = objectOf(data);
    return 'type' in message && message.type === 'shown'
      ? validateInput(shown, message)
      : validateInput(resize, message);
  } catch (error) {
    const [detail, parameter] =
      error instanceof SandhavenError ? [error.message, error.fields.parameter] : [];
    throw invalidArgument(parameter ?? 'type', detail ?? 'The message is no JSON object.', hint);
  }
}

/** Throws for what is no object. */
function objectOf(data: Buffer): object {
  const message: unknown = JSON.parse(data.toString());
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message;
  throw new TypeError('no object');
}

function codeOf({ code, status }: Problem): number {
  if (code === 'internal') return closeCodes.internal;
  const isRight = code === 'unauthenticated' || code === 'permission_denied';
  return isRight ? closeCodes.policy : closeCodes.problem + status;
}

function inCells({ columns, rows }: TerminalSize) {
  return { cols: columns, rows };
}
