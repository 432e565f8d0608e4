/**
 * Attributes of netlink: length and kind in the order of the machine, then the value, filled up to four bytes. Numbers in values
 * of nf_tables have the order of networks.
 */
import { endianness } from 'node:os';

const NESTED = 0x8000;
const HEADER_BYTES = 4;
const isLittle = endianness() === 'LE';

/** The length counts no padding. */
export function attribute(kind: number, value: Uint8Array): Buffer {
  return Buffer.concat([
    ownU16(HEADER_BYTES + value.length),
    ownU16(kind),
    value,
    Buffer.alloc(-value.length & 3),
  ]);
}

/** Holds other attributes. */
export function nested(kind: number, ...parts: Buffer[]): Buffer {
  return attribute(kind | NESTED, Buffer.concat(parts));
}

export function text(kind: number, value: string): Buffer {
  return attribute(kind, Buffer.from(`${value}\0`));
}

/** Holds a number of four bytes; of a negative one its two's complement. */
export function number(kind: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return attribute(kind, bytes);
}

/** Attributes by kind; the last one of a kind counts. Throws for a length that cannot be. */
export function readAttributes(bytes: Buffer): Map<number, Buffer> {
  return new Map(listAttributes(bytes));
}

/** Attributes in their order, as in a list, which has several of one kind. */
export function listAttributes(bytes: Buffer): [kind: number, value: Buffer][] {
  const found: [number, Buffer][] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = readU16(bytes, at);
    if (length < HEADER_BYTES || at + length > bytes.length)
      throw new Error('an attribute of no sound length');
    found.push([readU16(bytes, at + 2) & ~NESTED, bytes.subarray(at + HEADER_BYTES, at + length)]);
    at += (length + 3) & ~3;
  }
  return found;
}

/** Two bytes in the order of the machine. */
export function ownU16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  if (isLittle) bytes.writeUInt16LE(value);
  else bytes.writeUInt16BE(value);
  return bytes;
}

/** Four bytes in the order of the machine. */
export function ownU32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (isLittle) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
}

export function readU16(bytes: Buffer, at: number): number {
  return isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
}

export function readU32(bytes: Buffer, at: number): number {
  return isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}
