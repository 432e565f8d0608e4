/** What a schema must be, the slow and obvious way: from the documents' values, all of them in lists. */
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from '../../../src/documentdb/bson/library.ts';
import type { FieldSchema, FieldType } from '../../../src/model/document-schema.ts';
import type { Fields } from './arbitrary.ts';

/** Without examples and patterns, of which any will do. */
export type ExpectedField = Omit<FieldSchema, 'examples' | 'patterns' | 'fields'> & {
  fields?: ExpectedField[];
};

export function expectedFields(documents: readonly Fields[], above = ''): ExpectedField[] {
  const names = [...new Set(documents.flatMap((document) => [...document.keys()]))];
  return names.map((name) => {
    const values = documents.filter((document) => document.has(name)).map((document) => document.get(name));
    return expectedField(above + name, values, documents.length);
  });
}

function expectedField(path: string, values: unknown[], places: number): ExpectedField {
  const lists = values.filter((value) => Array.isArray(value));
  const lengths = lists.map((list) => list.length);
  const compared = values.flatMap(flat);
  const inside = compared.filter((value) => value instanceof Map);
  const known = expectedEnum(compared);
  return {
    path,
    types: expectedTypes(values, places),
    probability: values.length / places,
    ...(known ? { enum: known } : {}),
    ...expectedBounds(compared),
    ...(lists.length > 0
      ? {
          arrayLength: {
            min: Math.min(...lengths),
            max: Math.max(...lengths),
            average: lengths.reduce((a, b) => a + b, 0) / lists.length,
          },
        }
      : {}),
    ...(inside.length > 0 ? { fields: expectedFields(inside, `${path}.`) } : {}),
  };
}

/** What lies in lists, however deep. */
export function flat(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flatMap(flat) : [value];
}

function expectedTypes(values: unknown[], places: number): FieldType[] {
  const byType = Map.groupBy(values, typeOf);
  return [...byType]
    .map(([type, of]) => {
      const elements = of.flatMap((value) => (Array.isArray(value) ? value : []));
      const inside = type === 'array' ? { elements: expectedTypes(elements, elements.length) } : {};
      return { type, count: of.length, probability: of.length / places, ...inside };
    })
    .sort(byCountThenName);
}

export function byCountThenName(a: FieldType, b: FieldType): number {
  return b.count - a.count || a.type.localeCompare(b.type);
}

function expectedEnum(compared: unknown[]): ExpectedField['enum'] | null {
  const values = compared.filter((value) => value !== null);
  const enumerable = ['string', 'int', 'long', 'bool'];
  if (values.length === 0 || values.some((value) => !enumerable.includes(typeOf(value)))) return null;
  if (values.some((value) => typeof value === 'string' && Buffer.byteLength(value) > 100)) return null;
  const counts = Map.groupBy(values.map(plain), (value) => JSON.stringify(value));
  if (values.length < counts.size * (counts.size > 10 ? 10 : 2)) return null;
  return [...counts.values()].map((same) => ({ value: same[0], count: same.length })).sort(byCount);
}

export function byCount(a: { value: unknown; count: number }, b: { value: unknown; count: number }): number {
  return b.count - a.count || JSON.stringify(a.value).localeCompare(JSON.stringify(b.value));
}

function expectedBounds(compared: unknown[]): { min?: unknown; max?: unknown } {
  const numbers = compared.filter((value) => ['int', 'long', 'double', 'decimal'].includes(typeOf(value)));
  const dates = compared.filter((value) => value instanceof Date);
  if (numbers.length < dates.length) {
    const inOrder = dates.toSorted((a, b) => a.getTime() - b.getTime());
    return { min: plain(inOrder[0]), max: plain(inOrder.at(-1)) };
  }
  const inOrder = numbers.filter((value) => !Number.isNaN(Number(value))).toSorted(compareNumbers);
  if (inOrder.length === 0) return {};
  return { min: plain(plainest(inOrder, inOrder[0])), max: plain(plainest(inOrder, inOrder.at(-1))) };
}

/** Of numbers that are equal one that needs no wrapper, or the first. */
function plainest(numbers: unknown[], one: unknown): unknown {
  const equal = numbers.filter((value) => compareNumbers(value, one) === 0);
  return equal.find((value) => typeOf(value) !== 'decimal') ?? equal[0];
}

function compareNumbers(a: unknown, b: unknown): number {
  const difference = Number(a) === Number(b) ? 0 : Number(a) - Number(b);
  if (difference !== 0 || !(a instanceof Long && b instanceof Long)) return difference;
  return a.compare(b);
}

/** Relaxed Extended JSON, parsed. */
export function plain(value: unknown): unknown {
  if (value instanceof Int32) return value.value;
  if (value instanceof Double)
    return Number.isFinite(value.value) ? value.value : { $numberDouble: String(value.value) };
  if (value instanceof Long) {
    const number = value.toNumber();
    return Number.isSafeInteger(number) ? number : { $numberLong: value.toString() };
  }
  if (value instanceof Decimal128) return { $numberDecimal: value.toString() };
  if (value instanceof Date) {
    const ms = value.getTime();
    const isIso = ms >= 0 && value.getUTCFullYear() <= 9999;
    return { $date: isIso ? value.toISOString().replace('.000Z', 'Z') : { $numberLong: String(ms) } };
  }
  return value;
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Code) return value.scope ? 'javascriptWithScope' : 'javascript';
  const found = classes.find(([type]) => value instanceof type);
  if (found) return found[1];
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** A timestamp is a Long too. */
const classes = [
  [Map, 'object'],
  [Int32, 'int'],
  [Double, 'double'],
  [Timestamp, 'timestamp'],
  [Long, 'long'],
  [Decimal128, 'decimal'],
  [Date, 'date'],
  [ObjectId, 'objectId'],
  [Binary, 'binData'],
  [BSONRegExp, 'regex'],
  [BSONSymbol, 'symbol'],
  [MinKey, 'minKey'],
  [MaxKey, 'maxKey'],
] as const;
