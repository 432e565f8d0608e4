/**
 * Passes the body of a message on. Where its sender cut it into pieces makes no difference: small pieces go on
 * together, once a turn of the loop, so that a body in pieces of one byte costs neither a write nor memory for each.
 * What the other side does not take is not read.
 */
import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers';
import { limits } from '../model/limits.ts';
import { OneATurn } from './one-a-turn.ts';

const { pieceBytes, piecesPerTurn, pageBytes } = limits.loop;

/** Bodies in many pieces: what is buffered of one comes all at once when it is read on. */
const crumbled = new OneATurn();

export function pourBody(from: IncomingMessage, to: Writable): void {
  const body = new Body(from, to);
  from.on('data', (piece: Buffer) => body.take(piece));
  from.once('end', () => body.end());
  to.on('drain', () => body.drained());
  to.once('close', () => body.stop());
}

class Body {
  readonly #from: IncomingMessage;
  readonly #to: Writable;
  readonly #read: IncomingMessage['_read'];
  /** Small pieces, one behind the other, up to `#gathered`. */
  #page: Buffer | null = null;
  #gathered = 0;
  /** Pieces of this turn. */
  #pieces = 0;
  #immediate: NodeJS.Immediate | null = null;
  /** The other side takes no more for now. */
  #full = false;
  #shut = false;
  /** Too many pieces came in one turn: it is read on when the others of that kind have had theirs. */
  #crumbled = false;
  #over = false;

  constructor(from: IncomingMessage, to: Writable) {
    this.#from = from;
    this.#to = to;
    this.#read = from._read;
  }

  take(piece: Buffer): void {
    if (this.#over) return;
    this.#immediate ??= setImmediate(this.#turn);
    if (piece.length < pieceBytes) this.#gather(piece);
    else {
      this.#flush();
      this.#write(piece);
    }
    if (++this.#pieces >= piecesPerTurn) {
      this.#crumbled = true;
      this.#close();
    }
  }

  end(): void {
    if (this.#over) return;
    this.#flush();
    this.#over = true;
    if (this.#immediate) clearImmediate(this.#immediate);
    if (this.#shut) this.#readOn();
    this.#to.end();
  }

  drained(): void {
    this.#full = false;
    if (!this.#crumbled) this.#open();
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    crumbled.withdraw(this.#readOnInTurn);
    this.#page = null;
    if (this.#immediate) clearImmediate(this.#immediate);
    this.#from._read = this.#read;
    this.#from.pause();
  }

  readonly #turn = (): void => {
    this.#immediate = null;
    this.#pieces = 0;
    this.#flush();
    if (this.#crumbled) crumbled.ask(this.#readOnInTurn);
    else this.#open();
  };

  readonly #readOnInTurn = (): void => {
    this.#crumbled = false;
    this.#open();
  };

  #gather(piece: Buffer): void {
    if (this.#page && this.#gathered + piece.length > this.#page.length) this.#flush();
    this.#page ??= Buffer.allocUnsafe(pageBytes);
    this.#gathered += piece.copy(this.#page, this.#gathered);
  }

  #flush(): void {
    const page = this.#page?.subarray(0, this.#gathered);
    this.#page = null;
    this.#gathered = 0;
    if (page && page.length > 0) this.#write(page);
  }

  #write(bytes: Buffer): void {
    if (this.#to.write(bytes)) return;
    this.#full = true;
    this.#close();
  }

  /**
   * Reads no more. A message that is paused would go on to hold every piece that is there as an object of its own:
   * its socket is what has to stop, and a message starts it again whenever it wants to read.
   */
  #close(): void {
    // Behind a whole message comes the next one, which is not this body's to hold up.
    if (this.#shut || this.#from.complete) return;
    this.#shut = true;
    this.#from._read = () => {};
    this.#from.socket.pause();
  }

  #open(): void {
    if (!this.#shut || this.#full || this.#over || this.#pieces >= piecesPerTurn) return;
    this.#readOn();
  }

  #readOn(): void {
    this.#shut = false;
    this.#from._read = this.#read;
    this.#from.socket.resume();
  }
}
