/**
 * Writes to a client's channel, one piece at a time, and no faster than the client's window and the connection
 * take them. ssh2 1.17 mixes up output and error output when both wait for the window, and sends the last
 * waiting piece a second time; one piece in progress, forgotten afterwards, avoids both.
 */
import type { Duplex, Readable, Writable } from 'node:stream';
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

/**
 * Pipes streams with backpressure, and destroys neither when one half ends. Resolves when all data is taken, or no
 * more will come; rejects when reading fails. A stream may emit its end while its last chunk is still being taken.
 */
export function pour(from: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let taking = Promise.resolve();
    const finish = () => void taking.then(resolve, reject);
    from.on('data', (chunk: Buffer) => {
      from.pause();
      taking = take(chunk).then(() => void from.resume());
      taking.catch(reject);
    });
    from.once('end', finish);
    from.once('close', finish);
    from.once('error', reject);
  });
}

/** Passes on the end, too. Drops data after the writable has closed, as a shell's pipe does. */
export function feed(from: Readable, to: Writable): void {
  let open = true;
  const close = () => {
    open = false;
    from.resume();
  };
  to.once('close', close);
  to.on('error', close);
  to.on('drain', () => from.resume());
  from.on('data', (chunk: Buffer) => {
    if (open && !to.destroyed && !to.write(chunk)) from.pause();
  });
  from.once('end', () => {
    if (open && !to.destroyed) to.end();
  });
}
