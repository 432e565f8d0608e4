/**
 * One viewer of a terminal on a WebSocket. Binary messages are the terminal's bytes, text messages small JSON objects.
 * Backpressure holds both ways: a client that does not read gets the newest later, and one that types faster than the
 * program reads is not read from.
 */
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { validateInput } from '../../../catalog/validate.ts';
import type { TerminalSink, TerminalSize, TerminalView } from '../../../control/ports/index.ts';
import { invalidArgument, type Problem, SandhavenError, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { closeCodes, LiveSocket } from '../base/live-socket.ts';
import type { ServedSocket } from '../base/web-sockets.ts';

const { columns, rows } = limits.terminal;

const resize = z.strictObject({
  type: z.literal('resize'),
  cols: z.int().min(columns.min).max(columns.max),
  rows: z.int().min(rows.min).max(rows.max),
});

const shown = z.strictObject({ type: z.literal('shown'), bytes: z.int().min(1) });

export class TerminalSocket implements TerminalSink, ServedSocket {
  readonly #socket: LiveSocket;
  readonly #view: TerminalView;
  readonly #requestId: string;
  /** Bytes that the client takes before it has shown any; infinite for one that its connection alone holds back. */
  readonly #windowBytes: number;
  /** Bytes sent that the client has not shown yet. */
  #unshownBytes = 0;
  /** The agent waits: too much is unsent, or not shown. */
  #isFull = false;

  constructor(socket: WebSocket, view: TerminalView, requestId: string, windowBytes: number) {
    this.#socket = new LiveSocket(socket, {
      message: (data, isBinary) => this.#receive(data, isBinary),
      hasRoom: () => this.#mayResume(),
    });
    this.#view = view;
    this.#requestId = requestId;
    this.#windowBytes = windowBytes;
    view.input.on('drain', () => this.#socket.resume());
  }

  get closed(): Promise<void> {
    return this.#socket.closed;
  }

  /** Resolves when the terminal has ended or the client has left; rejects when the terminal cannot be seen any more. */
  async carry(terminal: string): Promise<void> {
    const { created, createdAtMs, size, scrollbackBytes } = this.#view;
    this.#socket.say({
      ...{ type: 'ready', terminal, created, created_at: new Date(createdAtMs).toISOString() },
      ...{ ...inCells(size), scrollback_bytes: scrollbackBytes },
    });
    this.#view.show(this);
    const end = await Promise.race([this.#view.ended, this.#socket.left]);
    if (!end) return;
    this.#socket.say({ type: 'exit', code: end.exitCode, signal: end.signal });
    this.close(closeCodes.normal, 'The shell has ended.');
  }

  data(bytes: Buffer): boolean {
    this.#unshownBytes += bytes.length;
    return this.#takesMore(this.#socket.send(bytes, { binary: true }));
  }

  skipped(bytes: number): boolean {
    return this.#takesMore(this.#socket.say({ type: 'skipped', bytes }));
  }

  resized(size: TerminalSize): boolean {
    return this.#takesMore(this.#socket.say({ type: 'size', ...inCells(size) }));
  }

  /** Ends the connection with the reason, as a message and as a code. */
  fail(problem: Problem): void {
    this.#socket.say({ ...problem, type: 'error' });
    this.#socket.fail(problem);
  }

  /** Ends the connection; the terminal goes on. */
  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { input } = this.#view;
    if (input.destroyed) return;
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

  #takesMore(hasRoom: boolean): boolean {
    this.#isFull ||= !hasRoom || this.#unshownBytes > this.#windowBytes;
    return !this.#isFull;
  }

  #mayResume(): void {
    if (!this.#isFull || this.#socket.isFull || this.#unshownBytes > this.#windowBytes / 2) return;
    this.#isFull = false;
    this.#view.resume();
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

function inCells({ columns, rows }: TerminalSize) {
  return { cols: columns, rows };
}
