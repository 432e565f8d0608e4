/**
 * A running program as three streams. Output passes without a copy, and both directions have backpressure: output that
 * is not read here blocks the program, and input beyond the window waits here until the program reads.
 *
 * Both outputs share the channel, so an unread one blocks the other; a destroyed one does not.
 */
import { Readable, Writable } from 'node:stream';
import type { ProcessEnd, RunningProcess, TerminalSize } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import { emptyReply, parseReply, processItem, unavailable } from './replies.ts';
import type { AgentRequest } from './request.ts';

/** Resolves when the program runs. Aborting the signal kills its whole tree at any time. */
export function openRunningProcess(
  openChannel: OpenChannel,
  id: string,
  request: AgentRequest,
  signal?: AbortSignal,
): Promise<RunningProcess> {
  return new Promise((resolve, reject) => {
    const program = new Program(resolve, reject, signal);
    void program.start(openChannel, id, request);
  });
}

class Program implements AnswerSink, RunningProcess {
  readonly talks = true;
  readonly stdin: InputStream;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly #resolve: (process: RunningProcess) => void;
  readonly #reject: (error: Error) => void;
  readonly #exchange: Exchange;
  readonly #outcome = Promise.withResolvers<ProcessEnd>();
  #running = false;
  /** Stream of the next data. */
  #named: Readable | null = null;
  /** Streams with a full buffer. */
  readonly #full = new Set<Readable>();
  #end: ProcessEnd | null = null;

  constructor(
    resolve: (process: RunningProcess) => void,
    reject: (error: Error) => void,
    signal?: AbortSignal,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = new Exchange(this, signal);
    this.stdin = new InputStream(this.#exchange);
    this.stdout = this.#output();
    this.stderr = this.#output();
    // A caller that uses only the streams must not see an unhandled rejection.
    this.ended.catch(() => {});
  }

  get ended(): Promise<ProcessEnd> {
    return this.#outcome.promise;
  }

  async start(openChannel: OpenChannel, id: string, request: AgentRequest): Promise<void> {
    this.#exchange.expect(limits.helloTimeoutMs, () => unavailable("The sandbox's agent does not answer."));
    await this.#exchange.open(openChannel, id);
    this.#exchange.send(request);
  }

  resize(size: TerminalSize): void {
    this.#exchange.sendItem({ resize: sizeOf(size) });
  }

  signal(name: string): void {
    if (name.length <= limits.process.signalNameChars) this.#exchange.sendItem({ signal: name });
  }

  close(): void {
    this.#exchange.fail(unavailable('The connection to the program was closed.'));
  }

  reply(json: unknown): boolean {
    parseReply(emptyReply, json);
    this.#exchange.relax();
    this.#running = true;
    this.#resolve(this);
    return true;
  }

  item(json: unknown): void {
    const item = parseReply(processItem, json);
    if (!this.#running || this.#end) throw new ProtocolError('an item that has no place here');
    if ('stream' in item) this.#named = this[item.stream];
    else if ('taken' in item) this.stdin.taken(item.taken);
    else this.#end = { exitCode: item.exit_code, signal: item.signal };
  }

  data(piece: Buffer): void {
    const stream = this.#named;
    if (!stream || this.#end) throw new ProtocolError('data that belongs to no stream');
    if (stream.destroyed || stream.push(piece)) return;
    this.#full.add(stream);
    this.#exchange.pause();
  }

  done(): void {
    if (!this.#end) throw new ProtocolError('no exit code before the end');
    this.stdout.push(null);
    this.stderr.push(null);
    this.stdin.over();
    this.#outcome.resolve(this.#end);
  }

  failed(error: Error): void {
    this.#reject(error);
    this.#outcome.reject(error);
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy(error);
  }

  #output(): Readable {
    const flow = (stream: Readable) => {
      if (this.#full.delete(stream) && this.#full.size === 0) this.#exchange.resume();
    };
    const stream = new Readable({
      highWaterMark: limits.process.bufferBytes,
      read: () => flow(stream),
      destroy(error, callback) {
        flow(stream);
        callback(error);
      },
    });
    // An error before the caller listens must not end the process; the stream stays in error.
    stream.on('error', () => {});
    return stream;
  }
}

/** Clamps a client's window size to what a terminal accepts. */
export function sizeOf({ columns, rows }: TerminalSize): TerminalSize {
  const bounded = (count: number) =>
    Math.max(0, Math.min(Math.trunc(count) || 0, limits.process.terminalSize));
  return { columns: bounded(columns), rows: bounded(rows) };
}

const NOTHING = Buffer.alloc(0);

type Done = (error?: Error | null) => void;

/**
 * Input of a program. At most one window of bytes is in flight, so messages to the agent never wait behind input that
 * the program does not read.
 */
export class InputStream extends Writable {
  readonly #exchange: Exchange;
  /** Bytes that may be sent now. */
  #window: number = limits.process.inputWindowBytes;
  /** Input beyond the window, and the callback of its write. */
  #rest: Buffer = NOTHING;
  #done: Done | null = null;
  #endSent = false;
  /** The program has ended; further input is dropped. */
  #over = false;

  constructor(exchange: Exchange) {
    super({ highWaterMark: limits.process.bufferBytes });
    this.#exchange = exchange;
    // An error before the caller listens must not end the process; the stream stays in error.
    this.on('error', () => {});
  }

  taken(bytes: number): void {
    this.#window += bytes;
    if (this.#window > limits.process.inputWindowBytes) throw new ProtocolError('more taken than was sent');
    this.#send();
  }

  over(): void {
    this.#over = true;
    this.#send();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#rest = chunk;
    this.#done = done;
    this.#send();
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this.#rest = Buffer.concat(chunks.map(({ chunk }) => chunk));
    this.#done = done;
    this.#send();
  }

  override _final(done: Done): void {
    this.#sendEnd();
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#rest = NOTHING;
    this.#done = null;
    this.#sendEnd();
    done(error);
  }

  #send(): void {
    const piece = this.#over ? NOTHING : this.#rest.subarray(0, this.#window);
    if (piece.length > 0) this.#exchange.sendNow(piece);
    this.#window -= piece.length;
    this.#rest = this.#over ? NOTHING : this.#rest.subarray(piece.length);
    if (this.#rest.length > 0) return;
    const done = this.#done;
    this.#done = null;
    done?.();
  }

  #sendEnd(): void {
    if (this.#endSent || this.#over) return;
    this.#endSent = true;
    this.#exchange.sendEnd();
  }
}
