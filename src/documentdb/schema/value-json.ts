/** Converts values of a field to parsed relaxed Extended JSON, for examples, enums and bounds. */
import { limits } from '../../model/limits.ts';
import { Decimal128 } from '../bson/library.ts';
import { code } from './bson-types.ts';
import type { KnownValue } from './known-values.ts';

const { exampleChars } = limits.documents.schema;

/** Dates after 9999 and before 1970 have no ISO form in Extended JSON. */
const lastIsoDate = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Returns the value, its texts cut to an example's length; undefined where its type already says all. */
export function exampleJson(value: KnownValue): unknown {
  const { bytes, typeCode } = value;
  switch (typeCode) {
    case code.double:
      return numberJson(bytes.getFloat64(0, true));
    case code.int:
      return bytes.getInt32(0, true);
    case code.long:
      return longJson(bytes);
    case code.decimal:
      return decimalJson(bytesOf(bytes));
    case code.bool:
      return bytes.getUint8(0) === 1;
    case code.string:
      return cut(textOf(value));
    case code.date:
      return dateJson(longAt(bytes, 0));
    case code.objectId:
      return { $oid: hex(bytes) };
    default:
      return rareJson(value);
  }
}

/** Returns the whole value, for the types that an enum can have. */
export function enumJson(value: KnownValue): unknown {
  return value.typeCode === code.string ? textOf(value) : exampleJson(value);
}

export function numberJson(value: number): unknown {
  return Number.isFinite(value) ? value : { $numberDouble: String(value) };
}

export function bigJson(value: bigint): unknown {
  return { $numberLong: String(value) };
}

export function decimalJson(bytes: Uint8Array): unknown {
  return { $numberDecimal: new Decimal128(bytes).toString() };
}

export function dateJson(ms: number): unknown {
  if (ms < 0 || ms > lastIsoDate) return { $date: { $numberLong: String(ms) } };
  return { $date: new Date(ms).toISOString().replace('.000Z', 'Z') };
}

function longJson(bytes: DataView): unknown {
  const value = longAt(bytes, 0);
  return Number.isSafeInteger(value) ? value : bigJson(bytes.getBigInt64(0, true));
}

function rareJson(value: KnownValue): unknown {
  const { bytes, typeCode } = value;
  switch (typeCode) {
    case code.timestamp:
      return { $timestamp: { t: bytes.getUint32(4, true), i: bytes.getUint32(0, true) } };
    case code.binData:
      return binaryJson(bytes);
    case code.regex:
      return regexJson(bytes);
    case code.symbol:
      return { $symbol: cut(textOf(value)) };
    case code.javascript:
      return { $code: cut(textOf(value)) };
    default:
      return undefined;
  }
}

function binaryJson(bytes: DataView): unknown {
  const base64 = Buffer.from(bytesOf(bytes).subarray(5)).toString('base64');
  return { $binary: { base64: cut(base64), subType: bytes.getUint8(4).toString(16).padStart(2, '0') } };
}

function regexJson(bytes: DataView): unknown {
  const [pattern = '', options = ''] = Buffer.from(bytesOf(bytes)).toString('utf8').split('\0');
  return { $regularExpression: { pattern: cut(pattern), options } };
}

/** A cut text may end within a character. */
function textOf({ bytes, length }: KnownValue): string {
  const text = Buffer.from(bytesOf(bytes)).toString('utf8');
  return bytes.byteLength < length ? `${text.replace(/\ufffd$/, '')}…` : text;
}

function cut(text: string): string {
  const chars = [...text];
  return chars.length <= exampleChars ? text : `${chars.slice(0, exampleChars - 1).join('')}…`;
}

function hex(bytes: DataView): string {
  return Buffer.from(bytesOf(bytes)).toString('hex');
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Converts BSON's wide numbers to doubles, which order them well enough. */
export const decimalBytes = 16;

const two32 = 2 ** 32;
const two64 = 2 ** 64;
const two96 = 2 ** 96;

/** Exact within ±2^53. */
export function longAt(view: DataView, at: number): number {
  return view.getInt32(at + 4, true) * two32 + view.getUint32(at, true);
}

/** Returns the nearest double of an IEEE 754-2008 decimal with a binary coefficient. */
export function approximately(view: DataView, at: number): number {
  const top = view.getUint32(at + 12, true);
  const sign = top >>> 31 === 1 ? -1 : 1;
  const combination = (top >>> 26) & 0x1f;
  if (combination === 0x1f) return Number.NaN;
  if (combination === 0x1e) return sign * Number.POSITIVE_INFINITY;
  // Coefficients of the other form exceed 34 digits, which makes them zero.
  if (combination >= 0x18) return 0;
  const exponent = ((top >>> 17) & 0x3fff) - 6176;
  const coefficient =
    (top & 0x1ffff) * two96 +
    view.getUint32(at + 8, true) * two64 +
    view.getUint32(at + 4, true) * two32 +
    view.getUint32(at, true);
  return sign * scaled(coefficient, exponent);
}

/** Division by a power of ten is exact where the power is, so 0.1 becomes the double 0.1. */
function scaled(coefficient: number, exponent: number): number {
  if (coefficient === 0) return 0;
  return exponent < 0 ? coefficient / 10 ** -exponent : coefficient * 10 ** exponent;
}
