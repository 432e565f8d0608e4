/**
 * Makes no difference of where the sender of a body cut it. Small pieces arrive together, once a turn of the loop:
 * as chunks of one byte, 64 KiB would be 65,536 objects while nobody reads them, and as many calls of whoever does.
 * A body of very many pieces is read on when the others of its kind have had their turn.
 */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers';
import { limits } from '../model/limits.ts';
import { LoopShare } from './loop-share.ts';
import { SmallPieces } from './small-pieces.ts';

/** One a turn: what a socket has for one of them comes all at once, after it was told to go on. */
const crumbled = new LoopShare(0);

/** To be called as soon as the message is there, before its body begins. */
export function gatherPieces(message: IncomingMessage): void {
  new BodyPieces(message);
}

class BodyPieces {
  readonly #message: IncomingMessage;
  readonly #push: IncomingMessage['push'];
  readonly #small = new SmallPieces();
  /** Pieces of this turn. */
  #count = 0;
  #turn: NodeJS.Immediate | null = null;
  #held = false;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#push = message.push.bind(message);
    message.push = (piece: Buffer | null) => (piece === null ? this.#end() : this.#take(piece));
  }

  /** @returns Whether more is wanted, as of any stream. */
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
    if (this.#held) crumbled.run(this, this.#readOn);
  };

  readonly #readOn = (): void => {
    if (!this.#held) return;
    this.#release();
    const { destroyed, readableLength, readableHighWaterMark, socket } = this.#message;
    if (!destroyed && readableLength < readableHighWaterMark) socket.resume();
  };

  /** Its socket has to stop, which a message starts again whenever it wants to read. */
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
