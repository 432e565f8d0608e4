/** A file's bytes as a stream, with backpressure to the agent and no copy of the bytes. */
import { Readable } from 'node:stream';
import { limits } from '../model/limits.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { unavailable } from './faults.ts';
import { ProtocolError } from './frames.ts';
import { parseReply, streamReply } from './replies.ts';

interface Opened {
  /** Size of the whole file. */
  size: number;
  stream: Readable;
}

/** Resolves when the agent has opened the file. Destroying the stream ends the work in the sandbox. */
export function openReadStream(
  openChannel: OpenChannel,
  id: string,
  version: number,
  query: { path: string; start?: number; end?: number },
  signal?: AbortSignal,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const stream = new FileStream(resolve, reject, signal);
    stream.start(openChannel, id, {
      v: version,
      op: 'read_stream',
      path: query.path,
      start: query.start,
      end: query.end,
      max_unsized_bytes: limits.fileContentBytes,
    });
  });
}

class FileStream extends Readable implements AnswerSink {
  readonly #resolve: (opened: Opened) => void;
  readonly #reject: (error: Error) => void;
  readonly #exchange: Exchange;
  #announced: number | null = null;
  #received = 0;

  constructor(resolve: (opened: Opened) => void, reject: (error: Error) => void, signal?: AbortSignal) {
    super({ highWaterMark: limits.agentDataFrameBytes });
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = new Exchange(this, signal);
    // An error before the caller listens must not end the process; the stream stays in error.
    this.on('error', () => {});
  }

  start(openChannel: OpenChannel, id: string, request: Record<string, unknown>): void {
    this.#expectMore();
    void this.#exchange.open(openChannel, id).then(() => this.#exchange.send(request));
  }

  item(): void {
    throw new ProtocolError('an item in a stream');
  }

  reply(json: unknown): boolean {
    const { size, bytes } = parseReply(streamReply, json);
    if (bytes > size) throw new ProtocolError('more bytes than the file has');
    this.#announced = bytes;
    this.#resolve({ size, stream: this });
    return true;
  }

  data(piece: Buffer): void {
    this.#received += piece.length;
    if (this.#announced === null || this.#received > this.#announced) {
      throw new ProtocolError('more data than announced');
    }
    if (this.push(piece)) {
      this.#expectMore();
    } else {
      this.#exchange.relax();
      this.#exchange.pause();
    }
  }

  done(): void {
    if (this.#received !== this.#announced) throw new ProtocolError('less data than announced');
    this.push(null);
  }

  failed(error: Error): void {
    if (this.#announced === null) this.#reject(error);
    else this.destroy(error);
  }

  override _read(): void {
    if (this.#exchange.settled) return;
    this.#expectMore();
    this.#exchange.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#exchange.fail(error ?? new Error('The stream was closed.'));
    callback(error);
  }

  #expectMore(): void {
    this.#exchange.expect(limits.streamIdleMs, () => unavailable("The sandbox's agent sends no more data."));
  }
}
