/** What a disk was told, in order: writes with their data, and flushes. */

export const kinds = { write: 1, flush: 2 } as const;

export interface Entry {
  /** When it was done; nanoseconds of the clock that all processes share. */
  at: bigint;
  kind: number;
  offset: number;
  data: Buffer;
}

const HEADER_BYTES = 32;

export function encodeEntry({ at, kind, offset, data }: Entry): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeBigUInt64LE(at, 0);
  header.writeUInt32LE(kind, 8);
  header.writeUInt32LE(data.length, 12);
  header.writeBigUInt64LE(BigInt(offset), 16);
  return Buffer.concat([header, data]);
}

export function decodeEntries(log: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < log.length; ) {
    const length = log.readUInt32LE(at + 12);
    const start = at + HEADER_BYTES;
    entries.push({
      at: log.readBigUInt64LE(at),
      kind: log.readUInt32LE(at + 8),
      offset: Number(log.readBigUInt64LE(at + 16)),
      data: log.subarray(start, start + length),
    });
    at = start + length;
  }
  return entries;
}
