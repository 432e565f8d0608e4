/**
 * Writes to a client's channel, one piece at a time, and no faster than the client's window and the connection
 * take them. ssh2 1.17 mixes up output and error output when both wait for the window, and sends the last
 * waiting piece a second time; one piece in progress, forgotten afterwards, avoids both.
 */
import type { Duplex, Writable } from 'node:stream';
import type { ServerChannel } from 'ssh2';

interface Pending {
  _chunk: unknown;
  _chunkcb: unknown;
  _chunkErr: unknown;
  _chunkcbErr: unknown;
}

export class ChannelWriter {
  readonly #channel: ServerChannel;
  readonly #stream: Duplex;
  readonly #closed: Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #open = true;

  /** `closed` resolves when no more can be written. */
  constructor(channel: ServerChannel, stream: Duplex, closed: Promise<void>) {
    this.#channel = channel;
    this.#stream = stream;
    this.#closed = closed.then(() => {
      this.#open = false;
    });
  }

  /** Resolves when the channel takes more; drops the data of a closed one. */
  out(data: Buffer): Promise<void> {
    return this.#inTurn(this.#channel, data);
  }

  err(data: Buffer): Promise<void> {
    return this.#inTurn(this.#channel.stderr, data);
  }

  #inTurn(stream: Writable, data: Buffer): Promise<void> {
    this.#last = this.#last.then(() => this.#write(stream, data));
    return this.#last;
  }

  async #write(stream: Writable, data: Buffer): Promise<void> {
    if (!this.#open || data.length === 0) return;
    const written = new Promise<void>((resolve) => stream.write(data, () => resolve()));
    await Promise.race([written, this.#closed]);
    Object.assign(this.#channel, {
      _chunk: undefined,
      _chunkcb: undefined,
      _chunkErr: undefined,
      _chunkcbErr: undefined,
    } satisfies Pending);
    if (this.#open && this.#stream.writableNeedDrain)
      await Promise.race([drained(this.#stream), this.#closed]);
  }
}

const drains = new WeakMap<Duplex, Promise<void>>();

/** One listener for all channels of a connection. */
function drained(stream: Duplex): Promise<void> {
  const waiting = drains.get(stream);
  if (waiting) return waiting;
  const drain = new Promise<void>((resolve) =>
    stream.once('drain', () => {
      drains.delete(stream);
      resolve();
    }),
  );
  drains.set(stream, drain);
  return drain;
}
