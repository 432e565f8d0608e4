/**
 * A WebSocket that lasts: a silent client is pinged, bytes that a client does not read wait within a bound, and the end has
 * a reason.
 */
import { WebSocket } from 'ws';
import type { Problem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

/** Codes of RFC 6455; any other error closes with 4000 and its status over HTTP. */
export const closeCodes = { normal: 1000, goingAway: 1001, policy: 1008, internal: 1011, problem: 4000 };

const { unsentBytes, pingMs } = limits.terminal;

export interface LiveSocketListener {
  message(data: Buffer, isBinary: boolean): void;
  /** There is room again, after `send` has returned false. */
  hasRoom(): void;
}

export class LiveSocket {
  readonly #socket: WebSocket;
  readonly #listener: LiveSocketListener;
  readonly #left = Promise.withResolvers<null>();
  readonly #closed = Promise.withResolvers<void>();
  /** Too much is unsent. */
  #isFull = false;
  /** The client has been heard of since the last ping. */
  #isAlive = true;

  constructor(socket: WebSocket, listener: LiveSocketListener) {
    this.#socket = socket;
    this.#listener = listener;
    const pings = setInterval(() => this.#ping(), pingMs);
    const heard = () => {
      this.#isAlive = true;
    };
    socket.on('ping', heard);
    socket.on('pong', heard);
    socket.on('message', (data, isBinary) => {
      heard();
      if (socket.readyState === WebSocket.OPEN) listener.message(data, isBinary);
    });
    // `ws` closes by itself after a breach of the WebSocket protocol.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(pings);
      this.#left.resolve(null);
      this.#closed.resolve();
    });
  }

  /** Resolves when the connection is gone. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Resolves when either side has begun to close. */
  get left(): Promise<null> {
    return this.#left.promise;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Returns false when no more should be sent, until there is room. */
  send(bytes: Buffer, { binary }: { binary: boolean }): boolean {
    const socket = this.#socket;
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(bytes, { binary }, () => this.#sent());
    this.#isFull ||= socket.bufferedAmount > unsentBytes;
    return !this.#isFull;
  }

  /** Sends a text message. */
  say(message: object): boolean {
    return this.send(Buffer.from(JSON.stringify(message)), { binary: false });
  }

  /** Reads nothing of the client until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number, reason: string): void {
    this.#left.resolve(null);
    // A paused connection would not hear the client's answer.
    this.#socket.resume();
    this.#socket.close(code, reason);
  }

  /** Closes with the code of the problem, and its title. */
  fail(problem: Problem): void {
    this.close(codeOf(problem), problem.title);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #sent(): void {
    if (!this.#isFull) return;
    // A client that reads slowly answers a ping late, and is there all the same.
    this.#isAlive = true;
    if (this.#socket.bufferedAmount > unsentBytes / 2) return;
    this.#isFull = false;
    this.#listener.hasRoom();
  }

  #ping(): void {
    // Nothing is heard of a client while it is not read from; writing to one that is gone fails.
    if (!this.#isAlive && !this.#socket.isPaused) this.#socket.terminate();
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#isAlive = false;
    this.#socket.ping();
  }
}

function codeOf({ code, status }: Problem): number {
  if (code === 'internal') return closeCodes.internal;
  const isRight = code === 'unauthenticated' || code === 'permission_denied';
  return isRight ? closeCodes.policy : closeCodes.problem + status;
}
