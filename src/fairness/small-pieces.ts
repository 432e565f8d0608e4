/**
 * Puts small pieces of bytes together in pages: a piece costs whoever keeps or sends it more than its bytes do, and
 * how they are cut is the sender's choice.
 */
import { limits } from '../model/limits.ts';

const { pieceBytes, pageBytes } = limits.loop;

export class SmallPieces {
  /** One that has no other behind it, and no page yet. */
  #only: Buffer | null = null;
  #page = Buffer.alloc(0);
  /** Of the page: what has gone on, and what is filled. */
  #gone = 0;
  #filled = 0;

  /** @returns What goes on now, in order: what was gathered, if the page is full; and a piece that is not small. */
  add(piece: Buffer): Buffer[] {
    if (piece.length >= pieceBytes) return [...this.take(), piece];
    const only = this.#only;
    this.#only = null;
    if (only) return [...this.#gather(only), ...this.#gather(piece)];
    if (this.#filled > this.#gone) return this.#gather(piece);
    this.#only = piece;
    return [];
  }

  /** All that was gathered. */
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
