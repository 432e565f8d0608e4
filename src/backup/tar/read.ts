/**
 * Reads a tar stream of a backup. It is hostile: only regular files with the names of a backup pass, each once, and
 * nothing is kept in memory but one piece.
 */
import { type Entry, isEntryName, notABackup } from '../entry.ts';
import { BLOCK_BYTES, sumOf } from './write.ts';

export async function* entriesOfTar(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const source = new Pieces(stream);
  try {
    for (;;) {
      const header = await source.exactly(BLOCK_BYTES);
      if (header.every((byte) => byte === 0)) return;
      const { name, sizeBytes } = parse(header);
      const content = source.pieces(sizeBytes);
      yield { name, sizeBytes, content };
      // An entry that was not read to its end ends here.
      for await (const _piece of content);
      await source.exactly((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
    }
  } finally {
    await source.close();
  }
}

function parse(header: Buffer): { name: string; sizeBytes: number } {
  const sum = Number.parseInt(textAt(header, 148, 8), 8);
  if (sum !== sumOf(header)) throw notABackup('a header of the stream is broken.');
  const name = textAt(header, 0, 100);
  const type = String.fromCharCode(header[156] ?? 0);
  if ((type !== '0' && type !== '\0') || textAt(header, 345, 155) !== '' || !isEntryName(name))
    throw notABackup('it has a file that no backup has.');
  return { name, sizeBytes: sizeIn(header) };
}

function sizeIn(header: Buffer): number {
  const large = header[124] === 0x80;
  const text = textAt(header, 124, 12).trim();
  const size = large ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text, 8);
  if (!Number.isSafeInteger(size) || size < 0 || (!large && !/^[0-7]+$/.test(text)))
    throw notABackup('a file has no valid size.');
  return size;
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? length : end);
}

/** Cuts a stream into the lengths that are asked for. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #left: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#source = stream[Symbol.asyncIterator]();
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

  async #fill(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done) throw notABackup('the stream ends too early.');
    this.#left = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
