/**
 * Joins small pieces of bytes in pages: a piece costs its holder and sender more than its bytes, and the sender chooses
 * the cuts.
 */
import { limits } from '../model/limits.ts';

const { pieceBytes, pageBytes } = limits.loop;

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
