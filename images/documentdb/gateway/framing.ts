/**
 * Cuts a byte stream into messages, by the length in their first four bytes.
 *
 * Invariant: at most the longest permitted message is kept, and its chunks are joined once.
 */
import { Fault } from './faults.ts';

const HEADER_BYTES = 16;

export class Framing {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Length of the current message; 0 while unknown. */
  #wanted = 0;

  get bytesWaiting(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /**
   * Returns the next whole message, or null when more bytes are needed. Throws for a stream that cannot be
   * messages.
   */
  next(maxBytes: number): Buffer | null {
    if (this.#wanted === 0) {
      if (this.#bytes < 4) return null;
      const length = this.#head(4).readInt32LE(0);
      if (length < HEADER_BYTES) throw new Fault('ProtocolError', `a message of ${length} bytes`);
      if (length > maxBytes)
        throw new Fault('ProtocolError', `a message of ${length} bytes; at most ${maxBytes}`);
      this.#wanted = length;
    }
    if (this.#bytes < this.#wanted) return null;
    const message = this.#take(this.#wanted);
    this.#wanted = 0;
    return message;
  }

  #head(bytes: number): Buffer {
    const [first] = this.#chunks;
    if (first && first.length >= bytes) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #take(bytes: number): Buffer {
    const all = this.#head(bytes);
    const message = all.subarray(0, bytes);
    const rest = all.subarray(bytes);
    if (this.#chunks[0] === all) this.#chunks.shift();
    if (rest.length > 0) this.#chunks.unshift(rest);
    this.#bytes -= bytes;
    return message;
  }
}
