/**
 * Writes to the emulator in pieces, and reports the shown bytes, so that the service sends no more than a
 * window. A piece that took long makes the next ones smaller: a few bytes may be much work, and the page must
 * stay responsive.
 */

/** The part of xterm that is used here. */
export interface Screen {
  write(bytes: Uint8Array, shown: () => void): void;
}

const LARGEST_BYTES = 4 * 1024;
const SMALLEST_BYTES = 64;
const LONG_MS = 40;
/** Pieces that xterm has at a time. It pauses between them. */
const AT_ONCE = 8;

export class Writer {
  readonly #screen: Screen;
  readonly #shown: (bytes: number) => void;
  #waiting: Uint8Array[] = [];
  #given = 0;
  #pieceBytes = LARGEST_BYTES;
  #lastMs = 0;
  #ended = false;

  /** @param shown Gets the number of bytes that the screen has taken. */
  constructor(screen: Screen, shown: (bytes: number) => void) {
    this.#screen = screen;
    this.#shown = shown;
  }

  write(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#waiting.push(bytes);
    if (this.#given === 0) this.#lastMs = performance.now();
    this.#give();
  }

  end(): void {
    this.#ended = true;
    this.#waiting = [];
  }

  #give(): void {
    while (this.#given < AT_ONCE && !this.#ended) {
      const [first] = this.#waiting;
      if (!first) return;
      const piece = first.subarray(0, this.#pieceBytes);
      if (piece.length === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(piece.length);
      this.#given += 1;
      this.#screen.write(piece, () => this.#took(piece.length));
    }
  }

  #took(bytes: number): void {
    const now = performance.now();
    const isLong = now - this.#lastMs > LONG_MS;
    this.#lastMs = now;
    this.#pieceBytes = isLong
      ? Math.max(SMALLEST_BYTES, this.#pieceBytes >> 2)
      : Math.min(LARGEST_BYTES, this.#pieceBytes << 1);
    this.#given -= 1;
    if (this.#ended) return;
    this.#shown(bytes);
    this.#give();
  }
}
