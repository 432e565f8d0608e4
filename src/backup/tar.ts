/**
 * Backups as tar streams of regular files. One that is read is hostile: only regular files with the names of a backup
 * pass, each once, and nothing is kept in memory but one piece.
 */
import { StreamPieces } from '../model/stream-pieces.ts';
import { type Entry, isEntryName, notABackup } from './entry.ts';

export async function* entriesOfTar(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const source = new StreamPieces(stream, () => notABackup('the stream ends too early.'));
  try {
    for (;;) {
      const header = await source.exactly(BLOCK_BYTES);
      if (header.every((byte) => byte === 0)) return await source.readOut(PADDING_BYTES, goesOn);
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

const goesOn = () => notABackup('the stream goes on after its end.');

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

/** Writes entries as a tar stream of regular files, in the form of POSIX ustar, with GNU's large sizes. */
const BLOCK_BYTES = 512;
/** Most after the first block of zeros: `tar` fills up its last record. */
const PADDING_BYTES = 1024 * 1024;
/** Largest size in eleven octal digits. */
const OCTAL_MAX = 0o77777777777;

export async function* tarOf(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer> {
  for await (const { name, sizeBytes, content } of entries) {
    yield headerOf(name, sizeBytes);
    let written = 0;
    for await (const piece of content) {
      written += piece.length;
      yield piece;
    }
    if (written !== sizeBytes) throw new Error(`${name} has ${written} bytes instead of ${sizeBytes}`);
    const rest = sizeBytes % BLOCK_BYTES;
    if (rest > 0) yield Buffer.alloc(BLOCK_BYTES - rest);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Source: POSIX.1-2024, pax, "ustar Interchange Format"; sizes beyond it as GNU tar writes them. */
function headerOf(name: string, sizeBytes: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, 'latin1');
  header.write('0000600\0' + '0000000\0' + '0000000\0', 100, 'latin1');
  if (sizeBytes <= OCTAL_MAX) header.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(sizeBytes), 128);
  }
  header.write('00000000000\0', 136, 'latin1');
  header.write('        ', 148, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\0' + '00', 257, 'latin1');
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** Returns the sum of a header's bytes, with its own field as spaces. */
export function sumOf(header: Buffer): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}
