/**
 * Input of a program. At most one window of bytes is in flight, so messages to the agent never wait behind input that
 * the program does not read.
 */
import { Writable } from 'node:stream';
import { limits } from '../model/limits.ts';
import type { Exchange } from './exchange.ts';
import { ProtocolError } from './frames.ts';

const NOTHING = Buffer.alloc(0);

type Done = (error?: Error | null) => void;

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
