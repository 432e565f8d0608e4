/**
 * One operation on one channel: request out, answer in. It ends in exactly one of `done` and `fail`, and either closes
 * the channel, which cancels the work in the sandbox.
 *
 * An answer is items, each with data of its own, then the reply; a reply that announces data is followed by
 * the data and an end frame. An error may replace any due frame. With a sink that `talks`, items go both
 * ways after the reply, until the end.
 */
import type { Duplex } from 'node:stream';
import { intakeFrom, type PacedIntake } from '../fairness/paced-intake.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import {
  encodeJson,
  type FrameBounds,
  FrameParser,
  type FrameSink,
  type FrameType,
  frameHeader,
  frameTypes,
  ProtocolError,
  parseJson,
} from './frames.ts';
import { faultOf, unavailable } from './replies.ts';
import { type AgentRequest, encodeRequest } from './request.ts';

export type OpenChannel = (id: string) => Promise<Duplex>;

/** Consumer of an operation's answer; its methods may throw ProtocolError. */
export interface AnswerSink {
  /** Accepts items after the reply too. */
  readonly talks?: boolean;
  /** Bounds of each item, when unusual. */
  readonly itemBounds?: FrameBounds | undefined;
  item(json: unknown, bytes: number): void;
  /** Returns true when data and an end frame follow. */
  reply(json: unknown): boolean;
  /** Takes data of the last item, or of the reply once that has come. */
  data(piece: Buffer): void;
  done(): void;
  failed(error: Error): void;
}

export class Exchange implements FrameSink {
  readonly #sink: AnswerSink;
  readonly #parser = new FrameParser(this);
  readonly #signal: AbortSignal | undefined;
  #channel: Duplex | null = null;
  #intake: PacedIntake | null = null;
  #timer: NodeJS.Timeout | undefined;
  #replied = false;
  #settled = false;
  /** Number of those for whom the answer waits. */
  #waits = 0;
  /** Resolves a wait for the channel to drain. */
  #wake: () => void = () => {};

  constructor(sink: AnswerSink, signal?: AbortSignal) {
    this.#sink = sink;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#aborted, { once: true });
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Resolves when the channel is open, or when the exchange has failed. */
  async open(openChannel: OpenChannel, id: string): Promise<void> {
    if (this.#signal?.aborted) this.#aborted();
    if (this.#settled) return;
    try {
      const channel = await openChannel(id);
      channel.on('error', () => {});
      if (this.#settled) channel.destroy();
      else this.#listen(channel, id);
    } catch (error) {
      this.fail(
        error instanceof SandhavenError ? error : unavailable('The sandbox cannot be reached.', error),
      );
    }
  }

  /** Starts the timeout of the agent's next frame. */
  expect(milliseconds: number, error: () => Error): void {
    clearTimeout(this.#timer);
    if (!this.#settled) this.#timer = setTimeout(() => this.fail(error()), milliseconds);
  }

  /** Stops the timeout: nothing is due from the agent. */
  relax(): void {
    clearTimeout(this.#timer);
  }

  /** Sends the request and, when given, all of its data. */
  send(request: AgentRequest, data?: Buffer): void {
    const frame = encodeRequest(request);
    if (frame.length > limits.agentFrameBytes) {
      this.fail(new SandhavenError('too_large', 'The call is too large for the sandbox.'));
      return;
    }
    const channel = this.#channel;
    channel?.cork();
    channel?.write(frame);
    if (data) {
      this.#writeData(data);
      this.sendEnd();
    }
    channel?.uncork();
  }

  /** Resolves when the channel accepts more; at once when the exchange is over. */
  async sendData(data: Buffer): Promise<void> {
    const channel = this.#channel;
    if (!channel || this.#settled) return;
    channel.cork();
    const takesMore = this.#writeData(data);
    channel.uncork();
    if (takesMore || this.#settled) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      channel.once('drain', resolve);
    });
  }

  /** Sends an item. Fails the exchange when over `limits.process.unsentBytes` wait: an agent always takes items. */
  sendItem(json: unknown): void {
    const channel = this.#channel;
    if (!channel || this.#settled) return;
    channel.write(encodeJson(frameTypes.item, json));
    if (channel.writableLength > limits.process.unsentBytes) {
      this.fail(unavailable("The sandbox's agent takes no more messages."));
    }
  }

  /** Sends without waiting: the caller bounds the bytes in flight. */
  sendNow(data: Buffer): void {
    this.#channel?.cork();
    this.#writeData(data);
    this.#channel?.uncork();
  }

  sendEnd(): void {
    this.#channel?.write(frameHeader(frameTypes.end, 0));
  }

  pause(): void {
    this.#intake?.pause();
  }

  resume(): void {
    this.#intake?.resume();
  }

  /** Takes nothing more of the answer until then. */
  pauseUntil(room: Promise<void>): void {
    this.#waits += 1;
    this.pause();
    void room.then(() => {
      this.#waits -= 1;
      if (this.#waits === 0) this.resume();
    });
  }

  fail(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#sink.failed(error);
  }

  frame(type: FrameType, payload: Buffer): void {
    if (this.#settled) return;
    switch (type) {
      case frameTypes.error:
        this.fail(faultOf(payload));
        break;
      case frameTypes.item:
        if (this.#replied && !this.#sink.talks) throw new ProtocolError('an item after the reply');
        this.#sink.item(parseJson(payload, this.#sink.itemBounds), payload.length);
        break;
      case frameTypes.reply:
        if (this.#replied) throw new ProtocolError('a second reply');
        this.#replied = true;
        if (!this.#sink.reply(parseJson(payload))) this.#done();
        break;
      case frameTypes.end:
        if (!this.#replied) throw new ProtocolError('an end before the reply');
        this.#done();
        break;
      default:
        throw new ProtocolError('a request from an agent');
    }
  }

  data(piece: Buffer): void {
    if (!this.#settled) this.#sink.data(piece);
  }

  readonly #aborted = (): void => {
    const reason: unknown = this.#signal?.reason;
    this.fail(reason instanceof Error ? reason : new Error('The call was cancelled.'));
  };

  #listen(stream: Duplex, source: string): void {
    this.#channel = stream;
    this.#intake = intakeFrom(stream, {
      source,
      take: (slice) => this.#receive(slice),
      over: (error) => this.fail(channelOver(error)),
    });
  }

  #receive(chunk: Buffer): void {
    if (this.#settled) return;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      this.fail(unavailable("The sandbox's agent does not keep to the protocol.", error));
    }
  }

  #writeData(data: Buffer): boolean {
    let takesMore = true;
    for (let at = 0; at < data.length; at += limits.agentDataFrameBytes) {
      const part = data.subarray(at, at + limits.agentDataFrameBytes);
      this.#channel?.write(frameHeader(frameTypes.data, part.length));
      takesMore = this.#channel?.write(part) ?? true;
    }
    return takesMore;
  }

  #done(): void {
    this.#sink.done();
    this.#settle();
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.#intake?.stop();
    this.#channel?.destroy();
    this.#wake();
  }
}

/** Error of a channel that ended before its answer; the engine's own where it has closed the channel. */
export function channelOver(error: Error | null): Error {
  if (error instanceof SandhavenError) return error;
  return error
    ? unavailable('The connection to the sandbox broke.', error)
    : unavailable("The sandbox's agent went away.");
}
