/** Compares values of filters with a schema's fields in the server's own terms: by kind of type. */
import type { CollectionSchema, FieldSchema, FieldType } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { inOrder } from '../bson/parse/json-reader.ts';
import { formatEjson } from '../bson/parse/parse.ts';

/** Types comparable with each other share one kind; every other type is its own. */
const KINDS: Record<string, string> = {
  int: 'number',
  long: 'number',
  double: 'number',
  decimal: 'number',
  symbol: 'string',
  undefined: 'null',
};

const KIND_OF_CLASS: Record<string, string> = {
  Int32: 'number',
  Long: 'number',
  Double: 'number',
  Decimal128: 'number',
  ObjectId: 'objectId',
  Binary: 'binData',
  BSONRegExp: 'regex',
  BSONSymbol: 'string',
  Timestamp: 'timestamp',
};

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  if (value instanceof RegExp) return 'regex';
  if (isDocument(value)) return 'object';
  return KIND_OF_CLASS[String((value as { _bsontype?: unknown })._bsontype)] ?? 'other';
}

/** Returns true for a plain object: neither a list nor a value with a class of its own. */
export function isDocument(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Keeps the given order, whatever the names are: the order of a document compared as a whole counts. */
export function documentOf(entries: readonly [string, unknown][]): Record<string, unknown> {
  return inOrder(
    Object.fromEntries(entries),
    entries.map(([key]) => key),
  );
}

export interface Held {
  /** Share by kind of the values that are neither null nor arrays: 0 to 1. Elements of arrays are values. */
  shares: ReadonlyMap<string, number>;
  /** Types in the schema's spelling, most frequent first. */
  types: string[];
}

/** Returns the types that a comparison with the field meets; null for a field never seen, or only null. */
export function heldBy(field: FieldSchema): Held | null {
  const counts = new Map<string, number>();
  count(field.types, counts);
  const types = [...counts.keys()].toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const values = types.filter((type) => type !== 'array');
  const total = values.reduce((sum, type) => sum + (counts.get(type) ?? 0), 0);
  const shares = new Map<string, number>(counts.has('array') ? [['array', 0]] : []);
  for (const type of values) {
    const kind = KINDS[type] ?? type;
    shares.set(kind, (shares.get(kind) ?? 0) + (counts.get(type) ?? 0) / total);
  }
  return types.length === 0 ? null : { shares, types };
}

function count(types: readonly FieldType[], counts: Map<string, number>): void {
  for (const { type, count: times, elements } of types) {
    if (times > 0 && (KINDS[type] ?? type) !== 'null') counts.set(type, (counts.get(type) ?? 0) + times);
    count(elements ?? [], counts);
  }
}

/** Returns the extent of the sample; empty when every document was read. */
export function seenIn({ sampleMethod, sampled }: CollectionSchema): string {
  return sampleMethod === 'all' ? '' : ` in the ${sampled} documents sampled`;
}

/** Formats as Extended JSON, cut where it is long. */
export function show(value: unknown): string {
  return cut(formatEjson(value), limits.documents.noteValueChars);
}

/** Formats a value from the schema, which is Extended JSON already. */
export function showSeen(value: unknown): string {
  return cut(JSON.stringify(value) ?? 'null', limits.documents.noteValueChars);
}

/** Formats a field name from data: anything but a plain word is quoted, so that it cannot pass for prose. */
export function named(path: string): string {
  const plain = /^[\p{L}\p{N}_$.<>*-]+$/u.test(path) ? path : JSON.stringify(path);
  return cut(plain, limits.documents.noteNameChars);
}

/** Returns `a`, `a and b`, `a, b and c`; past `most` only their number. */
export function listed(items: readonly string[], most: number = limits.documents.noteItems): string {
  return listedAs(items, (item) => item, most);
}

export function listedAs<T>(
  items: readonly T[],
  write: (item: T) => string,
  most: number = limits.documents.noteItems,
): string {
  const shown = items.slice(0, most).map(write);
  const hidden = items.length - shown.length;
  if (hidden > 0) return `${shown.join(', ')} and ${hidden} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
