/** Pieces of a stream of bytes, cut into the lengths that its reader asks for. No more is kept than one piece of the source. */
export class StreamPieces {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #tooShort: () => Error;
  #left: Buffer = Buffer.alloc(0);

  /** @param tooShort Makes the error for a stream that ends before a length that is asked for. */
  constructor(stream: AsyncIterable<Uint8Array>, tooShort: () => Error) {
    this.#source = stream[Symbol.asyncIterator]();
    this.#tooShort = tooShort;
  }

  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const piece of this.pieces(length)) parts.push(piece);
    return Buffer.concat(parts);
  }

  async *pieces(length: number): AsyncGenerator<Buffer> {
    for (let missing = length; missing > 0; ) {
      if (this.#left.length === 0) await this.#fill();
      const piece = this.#left.subarray(0, missing);
      this.#left = this.#left.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  /**
   * Reads to the end of the stream, whose sender would take one who leaves before it for one who gave up.
   * @param most Bytes that may be left; more throw what `tooLong` makes.
   */
  async readOut(most: number, tooLong: () => Error): Promise<void> {
    for (let bytes = this.#left.length; ; ) {
      const { done, value } = await this.#source.next();
      if (done) return;
      bytes += value.length;
      if (bytes > most) throw tooLong();
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #fill(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done) throw this.#tooShort();
    this.#left = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}
