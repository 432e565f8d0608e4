/** Messages of the MongoDB wire protocol, put together by hand. */
import { type Document, serialize } from 'bson';

interface Dependencies {
  id?: number;
  flags?: number;
  sequences?: Record<string, Document[]>;
  /** Four bytes at the end, when the flags say so. */
  checksum?: boolean;
}

export function message(
  body: Document,
  { id = 1, flags = 0, sequences = {}, checksum = false }: Dependencies = {},
): Buffer {
  const sections = Object.entries(sequences).map(([name, documents]) => sequence(name, documents));
  const rest = Buffer.concat([
    u32(flags | (checksum ? 1 : 0)),
    Buffer.of(0),
    serialize(body),
    ...sections,
    ...(checksum ? [u32(0xdeadbeef)] : []),
  ]);
  return frame(2013, rest, id);
}

export function frame(kind: number, rest: Uint8Array, id = 1): Buffer {
  return Buffer.concat([u32(16 + rest.length), u32(id), u32(0), u32(kind), rest]);
}

/** A hello as drivers send it before they know the server. */
export function query(body: Document): Buffer {
  return frame(
    2004,
    Buffer.concat([u32(0), Buffer.from('admin.$cmd\0'), u32(0), u32(0xffffffff), serialize(body)]),
  );
}

function sequence(name: string, documents: Document[]): Buffer {
  const content = Buffer.concat([
    Buffer.from(`${name}\0`),
    ...documents.map((document) => serialize(document)),
  ]);
  return Buffer.concat([Buffer.of(1), u32(4 + content.length), content]);
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}
