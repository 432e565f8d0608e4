/**
 * Output of a program as text. A character whose rest is yet to come waits for it; one with a gap in it is left out, and
 * counted with the gap.
 */

export interface OutputPiece {
  stream: 'stdout' | 'stderr';
  bytes: Buffer;
  /** Bytes of the stream that are missing before these. */
  leftOutBytes: number;
}

export interface PieceOfText {
  text: string;
  leftOutBytes: number;
}

export class OutputText {
  readonly #streams = { stdout: new StreamText(), stderr: new StreamText() };

  of({ stream, bytes, leftOutBytes }: OutputPiece): PieceOfText {
    const text = this.#streams[stream];
    if (leftOutBytes > 0) text.gap(leftOutBytes);
    return text.take(bytes);
  }

  /** Returns what the stream ended with. */
  restOf(stream: OutputPiece['stream']): PieceOfText {
    return this.#streams[stream].rest();
  }
}

class StreamText {
  /** Begin of a character. */
  #begun: Buffer = Buffer.alloc(0);
  #leftOutBytes = 0;
  #afterGap = false;

  gap(bytes: number): void {
    this.#leftOutBytes += bytes + this.#begun.length;
    this.#begun = Buffer.alloc(0);
    this.#afterGap = true;
  }

  take(piece: Buffer): PieceOfText {
    let bytes = this.#begun.length > 0 ? Buffer.concat([this.#begun, piece]) : piece;
    if (this.#afterGap && bytes.length > 0) {
      const skipped = restOfCharacter(bytes);
      this.#leftOutBytes += skipped;
      bytes = bytes.subarray(skipped);
      this.#afterGap = false;
    }
    const whole = bytes.length - incompleteSuffix(bytes);
    this.#begun = Buffer.from(bytes.subarray(whole));
    const text = bytes.toString('utf8', 0, whole);
    return text === '' ? { text, leftOutBytes: 0 } : this.#withGap(text);
  }

  rest(): PieceOfText {
    return this.#withGap(this.#begun.toString('utf8'));
  }

  /** Names a gap in front of the next text, or alone at the end. */
  #withGap(text: string): PieceOfText {
    const leftOutBytes = this.#leftOutBytes;
    this.#leftOutBytes = 0;
    return { text, leftOutBytes };
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Counts the bytes at the beginning that end a character which began before. */
function restOfCharacter(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count += 1;
  return count;
}

/** Counts the bytes at the end that begin a character and do not complete it. */
function incompleteSuffix(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthFrom(byte) > back ? back : 0;
  }
  return 0;
}

/** Returns the length of a character from its first byte. */
function lengthFrom(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 1;
}
