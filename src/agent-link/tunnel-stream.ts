/**
 * One connection of the sandbox's loopback as a duplex stream, each direction with its own end. Bytes pass without a
 * copy, and backpressure holds both ways: bytes not read here are not read in the sandbox.
 */
import type { Duplex } from 'node:stream';
import { PacedDuplex } from '../fairness/paced-connection.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { channelOver, type OpenChannel } from './exchange.ts';
import {
  FrameParser,
  type FrameSink,
  type FrameType,
  frameHeader,
  frameTypes,
  ProtocolError,
  parseJson,
} from './frames.ts';
import { emptyReply, faultOf, parseReply, unavailable } from './replies.ts';
import { type AgentRequest, encodeRequest } from './request.ts';

type Done = (error?: Error | null) => void;

/** Resolves when the agent has the connection. Aborting the signal destroys it at any time. */
export function openTunnel(
  openChannel: OpenChannel,
  id: string,
  request: AgentRequest,
  signal?: AbortSignal,
): Promise<Duplex> {
  const opening = new Promise<Duplex>((resolve, reject) => {
    const tunnel = new TunnelStream(resolve, reject, signal);
    void tunnel.start(openChannel, id, request);
  });
  return opening.then((tunnel) => {
    // A failure right after the reply has emitted its error already, before anyone could listen.
    if (tunnel.errored) throw tunnel.errored;
    return tunnel;
  });
}

class TunnelStream extends PacedDuplex implements FrameSink {
  readonly #resolve: (tunnel: Duplex) => void;
  readonly #reject: (error: Error) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #parser = new FrameParser(this);
  #timer: NodeJS.Timeout | undefined;
  #channel: Duplex | null = null;
  #opened = false;
  /** The agent has sent its end; nothing may follow. */
  #ended = false;
  /** Callback of the write that waits for the channel to drain. */
  #waiting: Done | null = null;

  constructor(resolve: (tunnel: Duplex) => void, reject: (error: Error) => void, signal?: AbortSignal) {
    super({
      readableHighWaterMark: limits.tunnel.bufferBytes,
      writableHighWaterMark: limits.tunnel.bufferBytes,
    });
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    // An error before the caller listens must not end the process; the stream stays in error.
    this.on('error', () => {});
    signal?.addEventListener('abort', this.#aborted, { once: true });
    this.#timer = setTimeout(
      () => this.destroy(unavailable("The sandbox's agent does not answer.")),
      limits.tunnel.openMs,
    );
  }

  async start(openChannel: OpenChannel, id: string, request: AgentRequest): Promise<void> {
    if (this.#signal?.aborted) this.#aborted();
    if (this.destroyed) return;
    try {
      const channel = await openChannel(id);
      channel.on('error', () => {});
      if (this.destroyed) channel.destroy();
      else this.#begin(channel, id, request);
    } catch (error) {
      this.destroy(
        error instanceof SandhavenError ? error : unavailable('The sandbox cannot be reached.', error),
      );
    }
  }

  frame(type: FrameType, payload: Buffer): void {
    if (this.destroyed) return;
    if (type === frameTypes.error) {
      this.destroy(faultOf(payload));
    } else if (type === frameTypes.reply && !this.#opened) {
      parseReply(emptyReply, parseJson(payload));
      this.#opened = true;
      clearTimeout(this.#timer);
      this.#resolve(this);
    } else if (type === frameTypes.end && this.#opened && !this.#ended) {
      this.#ended = true;
      this.push(null);
    } else {
      throw new ProtocolError('a frame that has no place in a tunnel');
    }
  }

  data(piece: Buffer): void {
    if (this.destroyed) return;
    if (!this.#opened || this.#ended) throw new ProtocolError('data that has no place in a tunnel');
    this.pass(piece);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#send([chunk], chunk.length, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    const parts = chunks.map(({ chunk }) => chunk);
    this.#send(
      parts,
      parts.reduce((sum, { length }) => sum + length, 0),
      done,
    );
  }

  override _final(done: Done): void {
    // Waits for the write: the end of both directions closes the channel, which drops unsent bytes.
    this.#channel?.write(frameHeader(frameTypes.end, 0), done);
  }

  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.takeNoMore();
    this.#channel?.destroy();
    this.#waiting = null;
    if (!this.#opened) this.#reject(error ?? new Error('The connection was closed.'));
    done(error);
  }

  readonly #aborted = (): void => {
    const reason: unknown = this.#signal?.reason;
    this.destroy(reason instanceof Error ? reason : new Error('The call was cancelled.'));
  };

  readonly #drained = (): void => {
    const done = this.#waiting;
    this.#waiting = null;
    done?.();
  };

  #begin(channel: Duplex, source: string, request: AgentRequest): void {
    this.#channel = channel;
    this.takeFrom(channel, source);
    channel.on('drain', this.#drained);
    channel.write(encodeRequest(request));
  }

  protected override arrived(slice: Buffer): void {
    try {
      this.#parser.push(slice);
    } catch (error) {
      this.destroy(unavailable("The sandbox's agent does not keep to the protocol.", error));
    }
  }

  protected override ended(error: Error | null): void {
    // After both ends the agent closes the channel itself.
    if (error || !this.#ended || !this.writableFinished) this.destroy(channelOver(error));
  }

  /** Sends all parts in one frame when they fit, else each part in frames of its own. */
  #send(parts: Buffer[], length: number, done: Done): void {
    const channel = this.#channel;
    if (!channel) {
      done(unavailable('The connection to the sandbox broke.'));
      return;
    }
    channel.cork();
    let takesMore = true;
    if (length <= limits.agentDataFrameBytes) {
      channel.write(frameHeader(frameTypes.data, length));
      for (const part of parts) takesMore = channel.write(part);
    } else {
      for (const part of parts) takesMore = writeInFrames(channel, part);
    }
    channel.uncork();
    if (takesMore) done();
    else this.#waiting = done;
  }
}

function writeInFrames(channel: Duplex, data: Buffer): boolean {
  let takesMore = true;
  for (let at = 0; at < data.length; at += limits.agentDataFrameBytes) {
    const part = data.subarray(at, at + limits.agentDataFrameBytes);
    channel.write(frameHeader(frameTypes.data, part.length));
    takesMore = channel.write(part);
  }
  return takesMore;
}
