/**
 * Walks a BSON document as bytes: refuses malformed ones before they reach the database, and finds the fields
 * of the outermost document without decoding any of them.
 */
import { Fault } from './faults.ts';
import { limits } from './limits.ts';

export interface Field {
  name: string;
  type: number;
  /** Start and end of its value. */
  start: number;
  end: number;
}

const type = { double: 1, string: 2, document: 3, array: 4, int: 16, long: 18 } as const;

/** Sizes of the fixed-length types. */
const fixed: Record<number, number> = {
  1: 8,
  6: 0,
  7: 12,
  8: 1,
  9: 8,
  10: 0,
  16: 4,
  17: 8,
  18: 8,
  19: 16,
  127: 0,
  255: 0,
};

/** Returns the fields of the document at `start`, all of it checked, nested ones too. */
export function fieldsOf(bytes: Buffer, start = 0): Field[] {
  const fields: Field[] = [];
  walk(bytes, start, bytes.length, 1, (field) => fields.push(field));
  return fields;
}

/** Returns the end of the document at `start`, once all of it is checked. */
export function checkedEnd(bytes: Buffer, start: number, limit: number): number {
  return walk(bytes, start, limit, 1, null);
}

/** Returns the text of a field, or null for another type. */
export function textOf(bytes: Buffer, field: Field | undefined): string | null {
  if (field?.type !== type.string) return null;
  return bytes.toString('utf8', field.start + 4, field.end - 1);
}

/** Returns the number of a field, or null for another type. */
export function numberOf(bytes: Buffer, field: Field | undefined): number | null {
  if (field?.type === type.int) return bytes.readInt32LE(field.start);
  if (field?.type === type.long) return Number(bytes.readBigInt64LE(field.start));
  if (field?.type === type.double) return bytes.readDoubleLE(field.start);
  return null;
}

function walk(
  bytes: Buffer,
  start: number,
  limit: number,
  depth: number,
  onField: ((field: Field) => void) | null,
): number {
  if (depth > limits.depth) throw new Fault('Overflow', `a document nested more than ${limits.depth} deep`);
  const end = start + length(bytes, start, limit, 5);
  if (bytes[end - 1] !== 0) throw broken('a document without its end');
  let at = start + 4;
  while (at < end - 1) {
    const kind = bytes[at] ?? 0;
    const nameEnd = bytes.indexOf(0, at + 1);
    if (nameEnd < 0 || nameEnd >= end - 1) throw broken('a field name without its end');
    const valueEnd = valueEndOf(bytes, kind, nameEnd + 1, end - 1, depth);
    onField?.({
      name: bytes.toString('utf8', at + 1, nameEnd),
      type: kind,
      start: nameEnd + 1,
      end: valueEnd,
    });
    at = valueEnd;
  }
  if (at !== end - 1) throw broken('a document of another length than it says');
  return end;
}

function valueEndOf(bytes: Buffer, kind: number, start: number, limit: number, depth: number): number {
  const size = fixed[kind];
  const end = size !== undefined ? start + size : variableEnd(bytes, kind, start, limit, depth);
  if (end > limit) throw broken('a value longer than its document');
  return end;
}

function variableEnd(bytes: Buffer, kind: number, start: number, limit: number, depth: number): number {
  switch (kind) {
    case type.document:
    case type.array:
      return walk(bytes, start, limit, depth + 1, null);
    case type.string:
    case 13: // JavaScript
    case 14: // symbol
      return stringEnd(bytes, start, limit);
    case 5: // binary
      return start + 5 + length(bytes, start, limit - 5, 0);
    case 11: // regular expression
      return textEnd(bytes, textEnd(bytes, start, limit), limit);
    case 12: // DBPointer
      return stringEnd(bytes, start, limit) + 12;
    case 15: {
      // JavaScript with its scope
      const end = start + length(bytes, start, limit, 14);
      if (walk(bytes, stringEnd(bytes, start + 4, end), end, depth + 1, null) !== end)
        throw broken('a scope');
      return end;
    }
    default:
      throw broken(`a value of type ${kind}`);
  }
}

function stringEnd(bytes: Buffer, start: number, limit: number): number {
  const end = start + 4 + length(bytes, start, limit - 4, 1);
  if (bytes[end - 1] !== 0) throw broken('a string without its end');
  return end;
}

function textEnd(bytes: Buffer, start: number, limit: number): number {
  const end = bytes.indexOf(0, start);
  if (end < 0 || end >= limit) throw broken('a text without its end');
  return end + 1;
}

/** Returns the length stored at `start`, when as much is left there. */
function length(bytes: Buffer, start: number, limit: number, least: number): number {
  if (start + 4 > limit + 4 || start + 4 > bytes.length) throw broken('a length beyond the end');
  const value = bytes.readInt32LE(start);
  if (value < least || start + value > limit) throw broken(`a length of ${value}`);
  return value;
}

function broken(what: string): Fault {
  return new Fault('InvalidBSON', `not BSON: ${what}`);
}
