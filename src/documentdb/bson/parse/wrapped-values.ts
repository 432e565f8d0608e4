/** Converts the contents of Extended JSON's more complex wrappers. undefined: invalid. */

import type { SandhavenError } from '../../../model/errors.ts';
import { Binary, Code, Decimal128 } from '../library.ts';
import { parseInstant } from './instant.ts';
import { shorten } from './place.ts';
import { integerOf } from './read-number.ts';

type Document = Record<string, unknown>;

/** Builds an error in the wrapper, at the keys that lead from it to the place. */
export type WrapperFault = (inside: readonly string[], problem: string, hint?: string) => SandhavenError;

export function readDate(value: unknown, _: Document, fault: WrapperFault): Date | undefined {
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

export function readBinary(value: unknown, document: Document): Binary | undefined {
  const legacy = Object.hasOwn(document, '$type');
  const [data, kind] = legacy ? [value, document['$type']] : (exactly(value, ['base64', 'subType']) ?? []);
  if (typeof data !== 'string' || typeof kind !== 'string' || !/^[\da-fA-F]{1,2}$/.test(kind))
    return undefined;
  const bytes = Buffer.from(data, 'base64');
  // The base64 decoder skips invalid characters silently.
  if (bytes.toString('base64') !== data) return undefined;
  return new Binary(bytes, Number.parseInt(kind, 16));
}

export function readCode(value: unknown, document: Document): Code | undefined {
  if (typeof value !== 'string') return undefined;
  if (!Object.hasOwn(document, '$scope')) return new Code(value);
  const scope = document['$scope'];
  return isPlain(scope) ? new Code(value, scope) : undefined;
}

export function decimalOf(text: string): Decimal128 | undefined {
  try {
    return Decimal128.fromString(text);
  } catch {
    return undefined;
  }
}

/** Returns the values of the keys when the document has exactly these. */
export function exactly(value: unknown, keys: readonly string[]): unknown[] | null {
  if (!isPlain(value) || Object.keys(value).length !== keys.length) return null;
  return keys.every((key) => Object.hasOwn(value, key)) ? keys.map((key) => value[key]) : null;
}

function isPlain(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
