/**
 * One byte stream between threads, on a message port of its own. Buffers are transferred rather than copied
 * where that is possible; a credit window keeps a fast side from filling the memory of both.
 *
 * Messages: bytes, a number (so many bytes were consumed), null (no more bytes follow). A port that closes
 * destroys the stream.
 */
import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { limits } from '../../model/limits.ts';

/** Consumed bytes are acknowledged in portions of this size: fewer messages, and never a side that waits for ever. */
const CREDIT_BYTES = limits.ssh.threadWindowBytes / 4;
/** Small writes made together are sent together, up to this size. */
const GATHERED_BYTES = 64 * 1024;

export interface PortStreamOptions {
  /** Keeps this side open after the other has ended. */
  allowHalfOpen?: boolean;
  /** The writer reuses its buffers; each chunk is copied. */
  keepsChunks?: boolean;
}

export class PortStream extends Duplex {
  readonly #port: MessagePort;
  #credit: number = limits.ssh.threadWindowBytes;
  #consumed = 0;
  /** Resumes a write that waits for credit. */
  #granted: (() => void) | null = null;
  /** The other side has ended its bytes. */
  #allReceived = false;
  #alone = false;
  readonly #mayGive: boolean;

  constructor(port: MessagePort, { allowHalfOpen = true, keepsChunks = false }: PortStreamOptions = {}) {
    super({ allowHalfOpen });
    this.#mayGive = !keepsChunks;
    this.#port = port;
    port.on('message', (message: unknown) => this.#receive(message));
    port.on('close', () => this.#otherSideGone());
  }

  override _read(): void {
    if (this.#consumed < CREDIT_BYTES) return;
    this.#port.postMessage(this.#consumed);
    this.#consumed = 0;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    if (this.#credit > 0 || this.#alone) {
      this.#send(chunk);
      callback();
      return;
    }
    this.#granted = () => {
      this.#send(chunk);
      callback();
    };
  }

  override _writev(chunks: { chunk: Buffer }[], callback: (error?: Error | null) => void): void {
    const parts = gather(chunks.map(({ chunk }) => chunk));
    const next = (at: number): void => {
      const part = parts[at];
      if (part) this._write(part, 'buffer' as BufferEncoding, () => next(at + 1));
      else callback();
    };
    next(0);
  }

  override _final(callback: () => void): void {
    this.#port.postMessage(null);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#granted = null;
    this.#port.close();
    callback(error);
  }

  #receive(message: unknown): void {
    if (this.destroyed) return;
    if (message === null) {
      this.#allReceived = true;
      this.push(null);
    } else if (typeof message === 'number') {
      this.#credit += message;
      if (this.#credit <= 0) return;
      const resume = this.#granted;
      this.#granted = null;
      resume?.();
    } else if (message instanceof Uint8Array) {
      this.#consumed += message.length;
      this.push(Buffer.from(message.buffer, message.byteOffset, message.byteLength));
    }
  }

  /** Received bytes can still be read; writes are dropped. */
  #otherSideGone(): void {
    if (this.destroyed) return;
    if (!this.#allReceived) {
      this.destroy(new Error('The other thread has closed the stream.'));
      return;
    }
    this.#alone = true;
    this.#granted?.();
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  /** Transfers a chunk that is the whole of its memory; copies a part of larger memory. */
  #send(chunk: Buffer): void {
    this.#credit -= chunk.length;
    const whole = this.#mayGive && chunk.byteLength === chunk.buffer.byteLength;
    const bytes = whole ? new Uint8Array(chunk.buffer as ArrayBuffer) : new Uint8Array(chunk);
    this.#port.postMessage(bytes, [bytes.buffer]);
  }
}

function gather(chunks: Buffer[]): Buffer[] {
  const gathered: Buffer[] = [];
  let run: Buffer[] = [];
  let length = 0;
  const flush = () => {
    if (run.length > 0) gathered.push(run.length === 1 && run[0] ? run[0] : Buffer.concat(run));
    run = [];
    length = 0;
  };
  for (const chunk of chunks) {
    if (length + chunk.length > GATHERED_BYTES) flush();
    run.push(chunk);
    length += chunk.length;
  }
  flush();
  return gathered;
}
