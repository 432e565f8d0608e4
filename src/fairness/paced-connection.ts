/**
 * Pacing of a client's connection for an HTTP server: its bytes arrive in slices, within this thread's share for its
 * network. A body in pieces of one byte costs Node's parser a hundred times as much as its bytes in one, and without
 * pacing every connection with input is parsed in the same turn of the loop.
 *
 * The socket itself is paced, between the system's bytes and its reader. Another stream around it would cost each call
 * a hop in both directions, and each rejected connection twice its objects.
 */
import { type Server, Socket } from 'node:net';
import { Duplex, type DuplexOptions, type Readable } from 'node:stream';
import { networkOf } from '../model/network/arrival.ts';
import type { Source } from './loop-share.ts';
import { Demand, intakeFrom, PacedIntake } from './paced-intake.ts';

/**
 * Paces every connection that this server accepts.
 * @param event `secureConnection` where the server speaks TLS.
 */
export function paceConnections(server: Server, event: 'connection' | 'secureConnection'): void {
  server.prependListener(event, (socket: Socket) => connections.set(socket, new PacedConnection(socket)));
  server.on(event, readThroughStream);
}

/** Stops reading for good. The client's system buffers the rest, and blocks once it is full. */
export function readNoMore(socket: Socket): void {
  connections.get(socket)?.readNoMore();
}

/**
 * Keeps the socket readable after `destroySoon`; the caller destroys it.
 * @returns Releases it.
 */
export function keepOpen(socket: Socket): () => void {
  return connections.get(socket)?.keepOpen() ?? (() => {});
}

class PacedConnection {
  readonly #socket: Socket;
  readonly #intake: PacedIntake;
  /** Callers that read on after `destroySoon`. */
  #keepers = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    const demand = new Demand(socket);
    const push = socket.push.bind(socket);
    this.#intake = new PacedIntake({
      source: networkOf(socket.remoteAddress ?? ''),
      // The socket pauses itself when `push` wants no more.
      gate: { pause: () => {}, resume: () => Socket.prototype._read.call(socket, 0) },
      take: (slice) => {
        if (!socket.destroyed && !push(slice)) demand.full();
      },
      over: () => {
        push(null);
        // Emits the end where nothing is left to read, as the socket does behind an end of its own.
        socket.read(0);
      },
    });
    demand.of(this.#intake);
    this.#standBetween(demand);
  }

  readNoMore(): void {
    this.#intake.stop();
    this.#socket.pause();
  }

  keepOpen(): () => void {
    this.#keepers++;
    return () => {
      this.#keepers--;
    };
  }

  #standBetween(demand: Demand): void {
    const socket = this.#socket;
    socket.push = (chunk: Buffer | null) => {
      if (chunk !== null) return this.#intake.arrive(chunk);
      this.#intake.end(null);
      return false;
    };
    socket._read = () => demand.more();
    socket.pause = () => {
      demand.pause();
      return Socket.prototype.pause.call(socket);
    };
    socket.resume = () => {
      Socket.prototype.resume.call(socket);
      demand.resume();
      return socket;
    };
    socket.destroySoon = () => this.#destroySoon();
  }

  /** Destroys the socket once all written bytes are sent. */
  #destroySoon(): void {
    const socket = this.#socket;
    if (socket.writable) socket.end();
    const sent = () => {
      if (this.#keepers === 0) socket.destroy();
    };
    if (socket.writableFinished) sent();
    else socket.once('finish', sent);
  }
}

const connections = new WeakMap<Socket, PacedConnection>();

/**
 * Makes Node's parser read the connection through its stream: without another listener for its bytes it bypasses the
 * stream.
 */
function readThroughStream(socket: Socket): void {
  const nothing = () => {};
  socket.on('data', nothing).off('data', nothing);
}

/**
 * Duplex whose incoming bytes are parsed within this thread's share for their source: the reader's work on each slice
 * is part of the slice's measured time.
 */
export abstract class PacedDuplex extends Duplex {
  readonly #demand: Demand;
  #intake: PacedIntake | null = null;

  constructor(options?: DuplexOptions) {
    super(options);
    this.#demand = new Demand(this);
  }

  /** Receives a slice; `pass` hands the reader's part on. Must not throw. */
  protected abstract arrived(slice: Buffer): void;
  /** Called after the last slice. */
  protected abstract ended(error: Error | null): void;

  protected takeFrom(stream: Readable, source: Source): void {
    this.#intake = intakeFrom(stream, {
      source,
      take: (slice) => this.arrived(slice),
      over: (error) => this.ended(error),
    });
    this.#demand.of(this.#intake);
  }

  protected takeNoMore(): void {
    this.#intake?.stop();
  }

  protected pass(bytes: Buffer): void {
    if (!this.push(bytes)) this.#demand.full();
  }

  override pause(): this {
    this.#demand.pause();
    return super.pause();
  }

  override resume(): this {
    super.resume();
    this.#demand.resume();
    return this;
  }

  override _read(): void {
    this.#demand.more();
  }
}
