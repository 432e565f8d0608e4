/**
 * Joins the small pieces of a body, however the sender cut them. They arrive together, once a turn of the event loop:
 * as chunks of one byte, 64 KiB would be 65,536 objects while they wait for a reader, and as many calls of the reader.
 * A body of very many pieces continues after the others of its kind have had their turn.
 */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers';
import { limits } from '../model/limits.ts';
import { LoopShare } from './loop-share.ts';

/** One body a turn: a resumed socket delivers everything it has at once. */
const manyPieceBodies = new LoopShare(0);

/** Joins the pieces of a message; called as soon as the message exists, before its body begins. */
export function gatherPieces(message: IncomingMessage): void {
  new BodyPieces(message);
}

class BodyPieces {
  readonly #message: IncomingMessage;
  readonly #push: IncomingMessage['push'];
  readonly #small = new SmallPieces();
  /** Pieces in this turn. */
  #count = 0;
  #turn: NodeJS.Immediate | null = null;
  #held = false;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#push = message.push.bind(message);
    message.push = (piece: Buffer | null) => (piece === null ? this.#end() : this.#take(piece));
  }

  /** @returns true while the reader wants more, like `push` of any stream. */
  #take(piece: Buffer): boolean {
    this.#turn ??= setImmediate(this.#flush);
    this.#pass(this.#small.add(piece));
    if (++this.#count >= limits.loop.piecesPerTurn) this.#hold();
    const { readableLength, readableHighWaterMark } = this.#message;
    return !this.#held && readableLength < readableHighWaterMark;
  }

  #end(): boolean {
    if (this.#turn) clearImmediate(this.#turn);
    if (this.#held) this.#release();
    this.#pass(this.#small.take());
    return this.#push(null);
  }

  readonly #flush = (): void => {
    this.#turn = null;
    this.#count = 0;
    this.#pass(this.#small.take());
    if (this.#held) manyPieceBodies.run(this, this.#readOn);
  };

  readonly #readOn = (): void => {
    if (!this.#held) return;
    this.#release();
    const { destroyed, readableLength, readableHighWaterMark, socket } = this.#message;
    if (!destroyed && readableLength < readableHighWaterMark) socket.resume();
  };

  /** Pauses the socket, and disables `_read`, which would resume it whenever the message wants to read. */
  #hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#message._read = () => {};
    this.#message.socket.pause();
  }

  #release(): void {
    this.#held = false;
    Reflect.deleteProperty(this.#message, '_read');
  }

  #pass(pieces: Buffer[]): void {
    if (this.#message.destroyed) return;
    for (const bytes of pieces) this.#push(bytes);
  }
}

const { pieceBytes, pageBytes } = limits.loop;

/**
 * Joins small pieces of bytes in pages: a piece costs its holder and sender more than its bytes, and the sender
 * chooses the cuts.
 */
export class SmallPieces {
  /** A single piece, before any page. */
  #only: Buffer | null = null;
  #page = Buffer.alloc(0);
  /** Bytes of the page that were passed on, and that are filled. */
  #gone = 0;
  #filled = 0;

  /**
   * @returns The bytes to pass on now, in order: the gathered ones, if the page is full; and a piece that is not small.
   */
  add(piece: Buffer): Buffer[] {
    if (piece.length >= pieceBytes) return [...this.take(), piece];
    const only = this.#only;
    this.#only = null;
    if (only) return [...this.#gather(only), ...this.#gather(piece)];
    if (this.#filled > this.#gone) return this.#gather(piece);
    this.#only = piece;
    return [];
  }

  /** Returns all gathered bytes. */
  take(): Buffer[] {
    const gathered = this.#only ?? this.#page.subarray(this.#gone, this.#filled);
    if (this.#only) this.#only = null;
    else this.#gone = this.#filled;
    return gathered.length > 0 ? [gathered] : [];
  }

  #gather(piece: Buffer): Buffer[] {
    const isFull = this.#filled + piece.length > this.#page.length;
    const before = isFull ? this.take() : [];
    if (isFull) {
      this.#page = Buffer.allocUnsafe(pageBytes);
      this.#gone = 0;
      this.#filled = 0;
    }
    this.#filled += piece.copy(this.#page, this.#filled);
    return before;
  }
}
