/**
 * Reads raw BSON's layout, with the checks that every reader shares. The bytes are the server's, so nothing is
 * assumed.
 */
import { SandhavenError } from '../../model/errors.ts';

/** Minimum size of a document: its length and its end. */
const EMPTY_BYTES = 5;

export const bsonType = {
  double: 0x01,
  string: 0x02,
  object: 0x03,
  array: 0x04,
  binary: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  boolean: 0x08,
  date: 0x09,
  null: 0x0a,
  regularExpression: 0x0b,
  pointer: 0x0c,
  code: 0x0d,
  symbol: 0x0e,
  codeWithScope: 0x0f,
  int: 0x10,
  timestamp: 0x11,
  long: 0x12,
  decimal: 0x13,
  maxKey: 0x7f,
  minKey: 0xff,
} as const;

/** Minimum size of a value by type; its whole size where it has no length of its own. −1: no such type. */
const leastBytes = new Int8Array(256).fill(-1);
const least: Record<keyof typeof bsonType, number> = {
  double: 8,
  string: 5,
  object: EMPTY_BYTES,
  array: EMPTY_BYTES,
  binary: 5,
  undefined: 0,
  objectId: 12,
  boolean: 1,
  date: 8,
  null: 0,
  regularExpression: 2,
  pointer: 17,
  code: 5,
  symbol: 5,
  codeWithScope: 14,
  int: 4,
  timestamp: 8,
  long: 8,
  decimal: 16,
  maxKey: 0,
  minKey: 0,
};
for (const [name, type] of Object.entries(bsonType)) leastBytes[type] = least[name as keyof typeof bsonType];

/** Throws for an unknown type, or when less than its minimum is left before `limit`; returns the minimum. */
export function checkLeast(type: number, at: number, limit: number): number {
  const bytes = leastBytes[type] as number;
  if (bytes < 0) throw new MalformedBson(`the unknown type 0x${type.toString(16).padStart(2, '0')}`, at);
  if (bytes > limit - at) throw new MalformedBson('a value that is cut off', at);
  return bytes;
}

/** Returns the end of the document's elements, the position of its last byte. */
export function documentEnd(bytes: Uint8Array, at: number, limit: number): number {
  if (limit - at < EMPTY_BYTES) throw new MalformedBson('a document that is cut off', at);
  const size = int32(bytes, at);
  if (size < EMPTY_BYTES || size > limit - at) throw new MalformedBson('a wrong length', at);
  const end = at + size - 1;
  if (bytes[end] !== 0) throw new MalformedBson('a document without its end', end);
  return end;
}

/** Returns the position after the string that begins with its length there; its text ends one byte before. */
export function stringEnd(bytes: Uint8Array, at: number, limit: number): number {
  if (limit - at < 5) throw new MalformedBson('a string that is cut off', at);
  const size = int32(bytes, at);
  const end = at + 4 + size;
  if (size < 1 || end > limit) throw new MalformedBson('a wrong length of a string', at);
  if (bytes[end - 1] !== 0) throw new MalformedBson('a string without its end', end - 1);
  return end;
}

/** Returns the position of the terminator of the text without a length that begins there. */
export function terminator(bytes: Uint8Array, from: number, limit: number): number {
  for (let at = from; at < limit; at++) if (bytes[at] === 0) return at;
  throw new MalformedBson('a text without its end', from);
}

/** The caller has checked that all four bytes are present. */
export function int32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

/** Returns the nearest double; the integer itself where `isExactInt64`. */
export function int64(bytes: Uint8Array, at: number): number {
  return int32(bytes, at + 4) * 2 ** 32 + (int32(bytes, at) >>> 0);
}

/** Returns true for an integer within ±2^53. Its neighbour beyond rounds to 2^53 too, but not with low bits of zero. */
export function isExactInt64(bytes: Uint8Array, at: number): boolean {
  const size = Math.abs(int64(bytes, at));
  return size < 2 ** 53 || (size === 2 ** 53 && int32(bytes, at) === 0);
}

export function int64Text(bytes: Uint8Array, at: number): string {
  if (isExactInt64(bytes, at)) return String(int64(bytes, at));
  return String((BigInt(int32(bytes, at + 4)) << 32n) | BigInt(int32(bytes, at) >>> 0));
}

/**
 * Error for bytes from the server that are no BSON. It is neither a defect of the service nor worth a retry, but the
 * caller should see it.
 */
export class MalformedBson extends SandhavenError {
  /** @param at Position in the document, in bytes, if known. */
  constructor(problem: string, at?: number) {
    const place = at === undefined ? '' : ` at byte ${at}`;
    super(
      'unavailable',
      `The document database sent a document that is not valid BSON: ${problem}${place}.`,
      {
        hint: 'Leave the damaged document out with a filter; the operator of the database can repair it.',
        retryable: false,
      },
    );
    this.name = 'MalformedBson';
  }
}
