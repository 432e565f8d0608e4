/**
 * Reads numbers and times of callers: JSON numbers become the BSON type that holds them exactly, times are those of
 * ISO 8601.
 */
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

const form =
  /^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(?:([Zz])|([+-])(\d\d):?(\d\d)?)?)?$/;
const MINUTE_MS = 60_000;

/**
 * Parses callers' times in ISO 8601. The platform's own parser accepts far more, and guesses. Returns milliseconds
 * since 1970, in UTC without a zone; null for an invalid time.
 */
export function parseInstant(text: string): number | null {
  const parts = form.exec(text);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  if (minute > 59 || second > 59 || hour > 24) return null;
  // 24:00 is the end of the day, and nothing follows it.
  if (hour === 24 && minute + second + ms > 0) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Date would turn the 30th of February into a day of March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const [offsetHours, offsetMinutes] = [Number(parts[10] ?? 0), Number(parts[11] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offset = (offsetHours * 60 + offsetMinutes) * MINUTE_MS * (parts[9] === '-' ? -1 : 1);
  const instant = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + ms - offset;
  return Number.isNaN(new Date(instant).getTime()) ? null : instant;
}
