/** Writes values that hold no documents from raw BSON to Extended JSON. The caller has run `checkLeast` for each. */
import { bsonType, int32, int64, int64Text, isExactInt64, MalformedBson } from '../bytes.ts';
import { NUMBER_BYTES, writeDouble, writeInstant, writeInteger } from './number-text.ts';
import { writeRare } from './rare-text.ts';
import { ascii, type TextBuffer, writeObjectId, writeQuoted, writeString } from './text-buffer.ts';

/** See `write.ts`. */
export type EjsonMode = 'relaxed' | 'canonical' | 'lossless';

const END_OF_9999_MS = 253_402_300_799_999;
const CLOSE = 0x7d;

const text = ascii({
  null: 'null',
  true: 'true',
  false: 'false',
  int: '{"$numberInt":"',
  long: '{"$numberLong":"',
  double: '{"$numberDouble":"',
  decimal: '{"$numberDecimal":"',
  instant: '{"$date":"',
  date: '{"$date":',
  close: '"}',
});
const scratch = new Float64Array(1);
const scratchBytes = new Uint8Array(scratch.buffer);

/** Writes the value of the type that begins there, and returns its end, `limit` at most. */
export function writeScalar(
  to: TextBuffer,
  mode: EjsonMode,
  type: number,
  source: Buffer,
  at: number,
  limit: number,
): number {
  switch (type) {
    case bsonType.string:
      return writeString(to, source, at, limit);
    case bsonType.int:
      writeInt(to, mode, int32(source, at));
      return at + 4;
    case bsonType.double:
      writeFloat(to, mode, source, at);
      return at + 8;
    case bsonType.objectId:
      writeObjectId(to, source, at);
      return at + 12;
    case bsonType.date:
      writeDate(to, mode, source, at);
      return at + 8;
    case bsonType.long:
      writeLong(to, mode, source, at);
      return at + 8;
    case bsonType.boolean:
      writeBoolean(to, source, at);
      return at + 1;
    case bsonType.null:
      to.literal(text.null);
      return at;
    case bsonType.decimal:
      writeQuoted(to, text.decimal, decimalText(source, at));
      return at + 16;
    default:
      return writeRare(to, type, source, at, limit);
  }
}

function writeInt(to: TextBuffer, mode: EjsonMode, value: number): void {
  if (mode === 'canonical') {
    writeQuoted(to, text.int, String(value));
    return;
  }
  to.reserve(NUMBER_BYTES);
  to.length = writeInteger(to.bytes, to.length, value);
}

function writeFloat(to: TextBuffer, mode: EjsonMode, source: Buffer, at: number): void {
  for (let i = 0; i < 8; i++) scratchBytes[i] = source[at + i] as number;
  const value = scratch[0] as number;
  if (!Number.isFinite(value)) {
    writeQuoted(to, text.double, String(value));
    return;
  }
  if (mode === 'canonical') to.literal(text.double);
  to.reserve(NUMBER_BYTES);
  to.length = writeDouble(to.bytes, to.length, value);
  if (mode === 'canonical') to.literal(text.close);
}

function writeLong(to: TextBuffer, mode: EjsonMode, source: Buffer, at: number): void {
  const value = int64(source, at);
  const named =
    mode === 'canonical' || !isExactInt64(source, at) || (mode === 'lossless' && value === (value | 0));
  if (named) {
    writeQuoted(to, text.long, int64Text(source, at));
    return;
  }
  to.reserve(NUMBER_BYTES);
  to.length = writeInteger(to.bytes, to.length, value);
}

function writeDate(to: TextBuffer, mode: EjsonMode, source: Buffer, at: number): void {
  const ms = int64(source, at);
  if (mode === 'canonical' || ms < 0 || ms > END_OF_9999_MS) {
    to.literal(text.date);
    writeQuoted(to, text.long, int64Text(source, at));
    to.byte(CLOSE);
    return;
  }
  to.literal(text.instant);
  to.reserve(NUMBER_BYTES);
  to.length = writeInstant(to.bytes, to.length, ms);
  to.literal(text.close);
}

function writeBoolean(to: TextBuffer, source: Buffer, at: number): void {
  const byte = source[at] as number;
  if (byte > 1) throw new MalformedBson('a boolean that is neither', at);
  to.literal(byte === 1 ? text.true : text.false);
}

/** Formats a decimal128 (binary integer encoding) exactly, trailing zeros included. */
const EXPONENT_BIAS = 6176;
const MAX_COEFFICIENT = 10n ** 34n - 1n;

/** Reads the 16 bytes at `at`. */
function decimalText(bytes: Uint8Array, at: number): string {
  const word = (offset: number) => int32(bytes, at + offset) >>> 0;
  const high = word(12);
  const sign = high >>> 31 === 1 ? '-' : '';
  // Five combination bits: 11110 means infinity, 11111 NaN; another 11 prefix, a coefficient out of range.
  const kind = (high >>> 26) & 0x1f;
  if (kind === 0x1f) return 'NaN';
  if (kind === 0x1e) return `${sign}Infinity`;
  if (kind >= 0x18) return sign + plainOrScientific('0', ((high >>> 15) & 0x3fff) - EXPONENT_BIAS);
  const exponent = ((high >>> 17) & 0x3fff) - EXPONENT_BIAS;
  return sign + plainOrScientific(coefficient(word(0), word(4), word(8), high & 0x1ffff), exponent);
}

function coefficient(lowest: number, lower: number, higher: number, highest: number): string {
  if (highest === 0 && higher === 0 && lower < 2 ** 21) return String(lower * 2 ** 32 + lowest);
  const all = (BigInt(highest) << 96n) | (BigInt(higher) << 64n) | (BigInt(lower) << 32n) | BigInt(lowest);
  // IEEE 754: a non-canonical coefficient counts as zero.
  return all > MAX_COEFFICIENT ? '0' : String(all);
}

function plainOrScientific(digits: string, exponent: number): string {
  const adjusted = exponent + digits.length - 1;
  if (exponent > 0 || adjusted < -6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${digits[0]}${fraction}E${adjusted < 0 ? '' : '+'}${adjusted}`;
  }
  if (exponent === 0) return digits;
  const whole = digits.length + exponent;
  return whole > 0 ? `${digits.slice(0, whole)}.${digits.slice(whole)}` : `0.${'0'.repeat(-whole)}${digits}`;
}
