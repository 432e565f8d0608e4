/**
 * Prints a text while it comes, and at the end what is missing of it. Nothing is printed twice, and nothing that the
 * result has is lost: after a gap the rest waits for the result, unless that has lost its middle too.
 */
import type { LivePiece } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';

export class LiveText {
  readonly #write: (text: string) => void;
  /** Printed so far; null once the result cannot have all of it. */
  #printed: string | null = '';
  /** Bytes of the output until now, printed or not. */
  #bytes = 0;
  #missingBytes = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show({ text, leftOutBytes }: Pick<LivePiece, 'text' | 'leftOutBytes'>): void {
    const bytes = Buffer.byteLength(text);
    this.#bytes += leftOutBytes + bytes;
    // A result keeps a stream of this length whole.
    if (this.#bytes > limits.outputBytes) this.#printed = null;
    const waits = this.#missingBytes + leftOutBytes > 0 && this.#printed !== null;
    this.#missingBytes += waits ? leftOutBytes + bytes : leftOutBytes;
    if (waits) return;
    this.#nameGap();
    this.#write(text);
    if (this.#printed !== null) this.#printed += text;
  }

  /**
   * Prints the rest of the whole text.
   * @param output The part of it that is output; the other part follows in any case.
   */
  finish(whole: string, output = whole): void {
    if (this.#printed !== null && whole.startsWith(this.#printed)) {
      this.#write(whole.slice(this.#printed.length));
      return;
    }
    this.#nameGap();
    this.#write(whole.slice(output.length));
  }

  #nameGap(): void {
    if (this.#missingBytes > 0) this.#write(`\n[… ${this.#missingBytes} bytes left out …]\n`);
    this.#missingBytes = 0;
  }
}
