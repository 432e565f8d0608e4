/** Writes entries as a tar stream of regular files, in the form of POSIX ustar, with GNU's large sizes. */
import type { Entry } from '../entry.ts';

export const BLOCK_BYTES = 512;
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
