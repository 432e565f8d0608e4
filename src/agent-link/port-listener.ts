/**
 * Port in the sandbox that the agent listens on for the host. The host accepts each announced connection over a channel
 * of its own, at a bounded rate: every connection in the sandbox costs the host one too. Further ones wait in the
 * sandbox, where the agent drops them after a timeout.
 */
import type { Duplex } from 'node:stream';
import type { Listener } from '../control/ports/index.ts';
import { intakeFrom, type PacedIntake } from '../fairness/paced-intake.ts';
import { type Bucket, takeOne } from '../fairness/rate.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { OpenChannel } from './exchange.ts';
import {
  FrameParser,
  type FrameSink,
  type FrameType,
  frameTypes,
  ProtocolError,
  parseJson,
} from './frames.ts';
import { connectionItem, faultOf, listenReply, parseReply, unavailable } from './replies.ts';
import { encodeRequest } from './request.ts';
import { openTunnel } from './tunnel-stream.ts';

export interface ListenRequest {
  port: number;
  everywhere?: boolean;
}

type OnConnection = (connection: Duplex) => void;

/** Resolves when the port listens. Aborting the signal closes it at any time. */
export function openListener(
  openChannel: OpenChannel,
  id: string,
  request: ListenRequest,
  onConnection: OnConnection,
  signal?: AbortSignal,
): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const listener = new PortListener(openChannel, id, onConnection, resolve, reject, signal);
    void listener.start(request);
  });
}

class PortListener implements FrameSink {
  readonly #openChannel: OpenChannel;
  readonly #id: string;
  readonly #onConnection: OnConnection;
  readonly #resolve: (listener: Listener) => void;
  readonly #reject: (error: Error) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #parser = new FrameParser(this);
  readonly #ended = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #channel: Duplex | null = null;
  #intake: PacedIntake | null = null;
  /** The agent's number of the listener, once it listens. */
  #number: number | null = null;
  /** Connections announced and not yet accepted. */
  readonly #named: number[] = [];
  #taking = 0;
  #bucket: Bucket | undefined;
  #next: NodeJS.Timeout | undefined;
  #over = false;

  constructor(
    openChannel: OpenChannel,
    id: string,
    onConnection: OnConnection,
    resolve: (listener: Listener) => void,
    reject: (error: Error) => void,
    signal?: AbortSignal,
  ) {
    this.#openChannel = openChannel;
    this.#id = id;
    this.#onConnection = onConnection;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#aborted, { once: true });
    const late = () => this.#end(unavailable("The sandbox's agent does not answer."));
    this.#timer = setTimeout(late, limits.tunnel.openMs);
  }

  async start({ port, everywhere = false }: ListenRequest): Promise<void> {
    if (this.#signal?.aborted) this.#aborted();
    if (this.#over) return;
    try {
      const channel = await this.#openChannel(this.#id);
      channel.on('error', () => {});
      if (this.#over) {
        channel.destroy();
        return;
      }
      this.#channel = channel;
      this.#intake = intakeFrom(channel, {
        source: this.#id,
        take: (slice) => this.#receive(slice),
        over: () => this.#end(unavailable("The sandbox's agent went away.")),
      });
      channel.write(encodeRequest({ op: 'listen', port, everywhere }));
    } catch (error) {
      this.#end(
        error instanceof SandhavenError ? error : unavailable('The sandbox cannot be reached.', error),
      );
    }
  }

  frame(type: FrameType, payload: Buffer): void {
    if (this.#over) return;
    if (type === frameTypes.error) {
      this.#end(faultOf(payload));
    } else if (type === frameTypes.reply && this.#number === null) {
      this.#listening(parseReply(listenReply, parseJson(payload)));
    } else if (type === frameTypes.item && this.#number !== null) {
      this.#name(parseReply(connectionItem, parseJson(payload)).connection);
    } else {
      throw new ProtocolError('a frame that has no place on a listener');
    }
  }

  data(): void {
    throw new ProtocolError('data on a listener');
  }

  readonly #aborted = (): void => {
    const reason: unknown = this.#signal?.reason;
    this.#end(reason instanceof Error ? reason : new Error('The call was cancelled.'));
  };

  #listening({ listener, port }: { listener: number; port: number }): void {
    clearTimeout(this.#timer);
    this.#number = listener;
    this.#resolve({
      port,
      ended: this.#ended.promise,
      close: () => this.#end(new Error('The listener was closed.')),
    });
  }

  #name(connection: number): void {
    // The agent does not count connections under acceptance as waiting.
    if (this.#named.length >= limits.tunnel.connectionsTaken)
      throw new ProtocolError('more connections than may wait');
    this.#named.push(connection);
    this.#takeNext();
  }

  #takeNext(): void {
    if (this.#over || this.#number === null || this.#next !== undefined) return;
    while (this.#named.length > 0 && this.#taking < limits.tunnel.connectionsTaken) {
      const { bucket, waitMs } = takeOne(limits.tunnel.taken, this.#bucket, performance.now());
      this.#bucket = bucket;
      if (waitMs > 0) {
        this.#next = setTimeout(() => {
          this.#next = undefined;
          this.#takeNext();
        }, waitMs);
        return;
      }
      this.#take(this.#number, this.#named.shift() ?? 0);
    }
  }

  /** A connection that fails here was closed in the sandbox. */
  #take(listener: number, connection: number): void {
    this.#taking += 1;
    openTunnel(this.#openChannel, this.#id, { op: 'accept', listener, connection }, this.#signal)
      .then(
        (tunnel) => this.#onConnection(tunnel),
        () => {},
      )
      .finally(() => {
        this.#taking -= 1;
        this.#takeNext();
      });
  }

  #receive(chunk: Buffer): void {
    if (this.#over) return;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      this.#end(unavailable("The sandbox's agent does not keep to the protocol.", error));
    }
  }

  #end(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#next);
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.#intake?.stop();
    this.#channel?.destroy();
    this.#reject(error);
    this.#ended.resolve();
  }
}
