/** An answer whose bytes come as a stream, with backpressure to the agent and no copy of them. */
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { limits } from '../model/limits.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import { parseReply, unavailable } from './replies.ts';
import type { AgentRequest } from './request.ts';

interface StreamedCall<T> {
  request: AgentRequest;
  reply: z.ZodType<T>;
  /** Number of bytes that the reply announces; null: it announces none. May throw a ProtocolError. */
  bytesOf(reply: T): number | null;
  /** Message for an agent that sends nothing for too long. */
  silence: string;
  signal?: AbortSignal | undefined;
}

interface Opened<T> {
  reply: T;
  stream: Readable;
}

/** Resolves with the reply, before the bytes. Destroying the stream ends the work in the sandbox. */
export function openAnswerStream<T>(
  openChannel: OpenChannel,
  id: string,
  given: StreamedCall<T>,
): Promise<Opened<T>> {
  return new Promise((resolve, reject) => {
    new AnswerStream(given, resolve, reject).start(openChannel, id);
  });
}

class AnswerStream<T> extends Readable implements AnswerSink {
  readonly #call: StreamedCall<T>;
  readonly #resolve: (opened: Opened<T>) => void;
  readonly #reject: (error: Error) => void;
  readonly #exchange: Exchange;
  #begun = false;
  #announced: number | null = null;
  #received = 0;

  constructor(given: StreamedCall<T>, resolve: (opened: Opened<T>) => void, reject: (error: Error) => void) {
    super({ highWaterMark: limits.agentDataFrameBytes });
    this.#call = given;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = new Exchange(this, given.signal);
    // An error before the caller listens must not end the process; the stream stays in error.
    this.on('error', () => {});
  }

  start(openChannel: OpenChannel, id: string): void {
    this.#expectMore();
    void this.#exchange.open(openChannel, id).then(() => this.#exchange.send(this.#call.request));
  }

  item(): void {
    throw new ProtocolError('an item in a stream');
  }

  reply(json: unknown): boolean {
    const reply = parseReply(this.#call.reply, json);
    this.#announced = this.#call.bytesOf(reply);
    this.#begun = true;
    this.#resolve({ reply, stream: this });
    return true;
  }

  data(piece: Buffer): void {
    this.#received += piece.length;
    if (!this.#begun) throw new ProtocolError('data before the reply');
    if (this.#announced !== null && this.#received > this.#announced) {
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
    if (this.#announced !== null && this.#received !== this.#announced) {
      throw new ProtocolError('less data than announced');
    }
    this.push(null);
  }

  failed(error: Error): void {
    if (this.#begun) this.destroy(error);
    else this.#reject(error);
  }

  override _read(): void {
    if (this.#exchange.settled || !this.#begun) return;
    this.#expectMore();
    this.#exchange.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#exchange.fail(error ?? new Error('The stream was closed.'));
    callback(error);
  }

  #expectMore(): void {
    this.#exchange.expect(limits.streamIdleMs, () => unavailable(this.#call.silence));
  }
}
