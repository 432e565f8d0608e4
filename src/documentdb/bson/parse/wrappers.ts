/**
 * Converts Extended JSON's wrappers, `{"$oid": "…"}` and the like, to the driver's types. Every key that names one
 * is taken as one, so an invalid wrapper is refused and not sent as an operator that no server knows. `$regex` and
 * `$type` are none: they are query operators.
 */
import type { SandhavenError } from '../../../model/errors.ts';
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from '../library.ts';
import { shorten } from './place.ts';
import { doubleOf, integerOf, isInt32, isInt64, parseInstant } from './read-scalars.ts';

type Document = Record<string, unknown>;

/** Returns the wrapped value, or the document itself when it is no wrapper. */
export function unwrap(document: Document, keys: readonly string[], fault: WrapperFault): unknown {
  const name = keys.find((key) => key[0] === '$' && Object.hasOwn(wrappers, key));
  if (name === undefined) return document;
  const { read, beside } = wrappers[name] as Wrapper;
  const stranger = keys.find((key) => key !== name && key !== beside);
  if (stranger !== undefined) {
    throw fault(
      [],
      `has ${JSON.stringify(shorten(stranger))} beside ${name}`,
      `${name} stands alone in its object.`,
    );
  }
  const value = read(document[name], document, fault);
  if (value !== undefined) return value;
  const { example } = wrappers[name] as Wrapper;
  throw fault([name], `cannot be ${shown(document[name])}`, `It is written ${example}.`);
}

interface Wrapper {
  /** Returns undefined when the wrapper is invalid and `example` suffices as a hint. */
  read(value: unknown, document: Document, fault: WrapperFault): unknown;
  /** Optional second key. */
  beside?: string;
  example: string;
}

const wrappers: Record<string, Wrapper> = {
  $oid: {
    read: (value) =>
      typeof value === 'string' && /^[0-9a-fA-F]{24}$/.test(value) ? new ObjectId(value) : undefined,
    example: '{"$oid": "507f1f77bcf86cd799439011"}, with 24 hexadecimal digits',
  },
  $date: {
    read: readDate,
    example:
      '{"$date": "2024-01-31T00:00:00Z"}, or {"$date": {"$numberLong": "1706659200000"}} in milliseconds',
  },
  $numberInt: {
    read: (value) => {
      const integer = integerOf(value);
      return integer !== null && isInt32(integer) ? Number(integer) : undefined;
    },
    example: '{"$numberInt": "5"}, from -2147483648 to 2147483647',
  },
  $numberLong: {
    read: (value) => {
      const integer = integerOf(value);
      return integer !== null && isInt64(integer) ? Long.fromBigInt(integer) : undefined;
    },
    example: '{"$numberLong": "9007199254740993"}, an integer of 64 bits',
  },
  $numberDouble: {
    read: (value) => doubleOf(value) ?? undefined,
    example: '{"$numberDouble": "1.5"}; NaN, Infinity and -Infinity are written so too',
  },
  $numberDecimal: {
    read: (value) => (typeof value === 'string' ? decimalOf(value) : undefined),
    example: '{"$numberDecimal": "19.99"}, in quotes, with at most 34 digits',
  },
  $uuid: {
    read: (value) =>
      typeof value === 'string' &&
      /^[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}$/i.test(value)
        ? new Binary(Buffer.from(value.replaceAll('-', ''), 'hex'), Binary.SUBTYPE_UUID)
        : undefined,
    example: '{"$uuid": "123e4567-e89b-12d3-a456-426614174000"}',
  },
  $binary: {
    read: readBinary,
    beside: '$type',
    example: '{"$binary": {"base64": "AQID", "subType": "00"}}',
  },
  $regularExpression: {
    read: (value, _, fault) => {
      const parts = exactly(value, ['pattern', 'options']);
      const [pattern, options] = parts ?? [];
      if (typeof pattern !== 'string' || typeof options !== 'string') return undefined;
      if (pattern.includes('\0')) throw fault(['$regularExpression', 'pattern'], 'holds a NUL');
      return /^[imxslu]*$/.test(options) ? new BSONRegExp(pattern, options) : undefined;
    },
    example:
      '{"$regularExpression": {"pattern": "^abc", "options": "i"}}; as a condition also {"$regex": "^abc", "$options": "i"}',
  },
  $timestamp: {
    read: (value) => {
      const [t, i] = (exactly(value, ['t', 'i']) ?? []).map((part) => integerOf(part));
      if (t === undefined || i === undefined || t === null || i === null) return undefined;
      const fits = [t, i].every((part) => part >= 0n && part < 2n ** 32n);
      return fits ? new Timestamp({ t: Number(t), i: Number(i) }) : undefined;
    },
    example: '{"$timestamp": {"t": 1700000000, "i": 1}}',
  },
  $code: {
    read: readCode,
    beside: '$scope',
    example: '{"$code": "…"} or {"$code": "…", "$scope": {}}',
  },
  $symbol: {
    read: (value) => (typeof value === 'string' ? new BSONSymbol(value) : undefined),
    example: '{"$symbol": "…"}',
  },
  $minKey: { read: (value) => (value === 1 ? new MinKey() : undefined), example: '{"$minKey": 1}' },
  $maxKey: { read: (value) => (value === 1 ? new MaxKey() : undefined), example: '{"$maxKey": 1}' },
  $undefined: {
    read: (_value, _document, fault) => {
      throw fault(
        ['$undefined'],
        'is a type that cannot be sent',
        'Find such values with {"$type": "undefined"}, and fields that are not there with {"$exists": false}.',
      );
    },
    example: '',
  },
  $dbPointer: {
    read: (_value, _document, fault) => {
      throw fault(
        ['$dbPointer'],
        'is a type that cannot be sent',
        'Find such values with {"$type": "dbPointer"}.',
      );
    },
    example: '',
  },
};

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  if (typeof value !== 'object' || value === null || Long.isLong(value)) return String(value);
  return Array.isArray(value) ? 'an array' : 'this object';
}

/** Builds an error in the wrapper, at the keys that lead from it to the place. */
type WrapperFault = (inside: readonly string[], problem: string, hint?: string) => SandhavenError;

/** Like the functions below, returns undefined for invalid contents. */
function readDate(value: unknown, _: Document, fault: WrapperFault): Date | undefined {
  if (typeof value === 'string') {
    const instant = parseInstant(value);
    if (instant !== null) return new Date(instant);
    throw fault(
      ['$date'],
      `is no time in ISO 8601: ${JSON.stringify(shorten(value))}`,
      'Write "2024-01-31", "2024-01-31T12:00:00Z" or "2024-01-31T12:00:00.250+02:00"; without a zone it is UTC.',
    );
  }
  const ms = integerOf(value, 'number');
  if (ms === null) return undefined;
  const date = new Date(Number(ms));
  if (Number.isNaN(date.getTime())) {
    throw fault(['$date'], 'is beyond the times that can be sent, 271,821 years before and after 1970');
  }
  return date;
}

function readBinary(value: unknown, document: Document): Binary | undefined {
  const legacy = Object.hasOwn(document, '$type');
  const [data, kind] = legacy ? [value, document['$type']] : (exactly(value, ['base64', 'subType']) ?? []);
  if (typeof data !== 'string' || typeof kind !== 'string' || !/^[\da-fA-F]{1,2}$/.test(kind))
    return undefined;
  const bytes = Buffer.from(data, 'base64');
  // The base64 decoder skips invalid characters silently.
  if (bytes.toString('base64') !== data) return undefined;
  return new Binary(bytes, Number.parseInt(kind, 16));
}

function readCode(value: unknown, document: Document): Code | undefined {
  if (typeof value !== 'string') return undefined;
  if (!Object.hasOwn(document, '$scope')) return new Code(value);
  const scope = document['$scope'];
  return isPlain(scope) ? new Code(value, scope) : undefined;
}

function decimalOf(text: string): Decimal128 | undefined {
  try {
    return Decimal128.fromString(text);
  } catch {
    return undefined;
  }
}

/** Returns the values of the keys when the document has exactly these. */
function exactly(value: unknown, keys: readonly string[]): unknown[] | null {
  if (!isPlain(value) || Object.keys(value).length !== keys.length) return null;
  return keys.every((key) => Object.hasOwn(value, key)) ? keys.map((key) => value[key]) : null;
}

function isPlain(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
