/** Converts JSON numbers to the BSON type that holds them exactly. */
import { Double, Long } from '../library.ts';

/** Longer ones are never an int64, whatever their digits. */
const INT64_CHARS = 20;
/** Integers up to this length always fit an int. */
const SMALL_CHARS = 9;

/**
 * Preserves the written form: an integer is an int where it fits, then a long, then the nearest double; a number
 * with a point or an exponent is a double. Null beyond those.
 */
export function readNumber(source: string): number | Long | Double | null {
  if (/^-?\d+$/.test(source) && source.length <= INT64_CHARS && source !== '-0') {
    if (source.length <= SMALL_CHARS) return Number(source);
    const integer = BigInt(source);
    if (isInt32(integer)) return Number(integer);
    if (isInt64(integer)) return Long.fromBigInt(integer);
  }
  const value = Number(source);
  return Number.isFinite(value) ? doubleValue(value) : null;
}

/** Accepts text or an integral number; `only` restricts it to numbers. */
export function integerOf(value: unknown, only?: 'number'): bigint | null {
  if (typeof value === 'string') {
    return only === undefined && /^-?\d{1,20}$/.test(value) ? BigInt(value) : null;
  }
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
  return Long.isLong(value) ? value.toBigInt() : null;
}

export function doubleOf(value: unknown): number | Double | null {
  if (typeof value === 'number') return doubleValue(value);
  if (Long.isLong(value)) return doubleValue(value.toNumber());
  if (value instanceof Double) return value;
  if (typeof value !== 'string') return null;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return null;
  return Number.isFinite(Number(value)) ? doubleValue(Number(value)) : null;
}

export function isInt32(value: bigint): boolean {
  return value >= -(2n ** 31n) && value < 2n ** 31n;
}

export function isInt64(value: bigint): boolean {
  return value >= -(2n ** 63n) && value < 2n ** 63n;
}

/** A plain integral number would be sent as an int. */
function doubleValue(value: number): number | Double {
  return Number.isInteger(value) ? new Double(value) : value;
}
