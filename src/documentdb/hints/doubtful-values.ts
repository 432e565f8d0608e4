/** Explains single conditions that may match nothing, by values seen before: other words, other case, out of range. */
import { type CollectionSchema, type FieldSchema, fieldAt } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import type { Condition } from './filter-walk.ts';
import { isDocument, kindOf, listedAs, named, seenIn, show, showSeen } from './values.ts';

/** Returns null without evidence against it. */
export function doubt({ path, operator, value }: Condition, schema: CollectionSchema): string | null {
  const field = fieldAt(schema, path);
  if (field === null) return null;
  const seen = seenIn(schema);
  const values = operator === '$in' && Array.isArray(value) ? value : [value];
  if (operator === '$eq' || operator === '$in') {
    return otherWord(path, values, field, seen) ?? outside(path, operator, values, field, seen);
  }
  return outside(path, operator, values, field, seen);
}

function otherWord(
  path: string,
  values: readonly unknown[],
  field: FieldSchema,
  seen: string,
): string | null {
  const words = field.enum?.map((entry) => entry.value);
  const judged = values.filter((value) => kindOf(value) === 'string') as string[];
  if (words === undefined || judged.length < values.length || judged.length === 0) return null;
  if (judged.some((word) => words.includes(word))) return null;
  const said = `${named(path)} is never ${listedAs(judged, show)}${seen}`;
  const known = words.filter((word) => typeof word === 'string');
  const given = new Set(judged.map(folded));
  const same = known.filter((word) => given.has(folded(word)));
  if (same.length > 0) {
    return `${said}, but ${listedAs(same, showSeen)}: comparison of strings is case-sensitive and counts spaces.`;
  }
  const near = judged
    .slice(0, limits.documents.noteItems)
    .flatMap((word) => nearest(word, known, limits.documents.suggestions));
  const meant = [...new Set(near)].map(showSeen);
  if (meant.length > 0) return `${said}. Did you mean ${meant.join(' or ')}?`;
  return `${said}. Its values: ${listedAs(words, showSeen, limits.documents.noteItems * 2)}.`;
}

/** Decides by the signs of (given − min) and (given − max) that a bound excludes every seen value. */
const BEYOND = new Map<string, (min: number, max: number) => boolean>([
  ['$eq', (min, max) => min < 0 || max > 0],
  ['$in', (min, max) => min < 0 || max > 0],
  ['$gt', (_, max) => max >= 0],
  ['$gte', (_, max) => max > 0],
  ['$lt', (min) => min <= 0],
  ['$lte', (min) => min < 0],
]);

function outside(
  path: string,
  operator: string,
  values: readonly unknown[],
  { min, max }: FieldSchema,
  seen: string,
): string | null {
  const isBeyond = BEYOND.get(operator);
  const [low, high] = [order(min), order(max)];
  if (isBeyond === undefined || low === null || high === null || values.length === 0) return null;
  const beyond = values.map(order).every((one) => {
    return one?.kind === low.kind && isBeyond(Math.sign(one.at - low.at), Math.sign(one.at - high.at));
  });
  if (!beyond) return null;
  return `${named(path)} goes from ${showSeen(min)} to ${showSeen(max)}${seen}; ${operator} ${listedAs(values, show)} is outside.`;
}

interface Place {
  kind: 'number' | 'date';
  at: number;
}

/** Orders values of a filter and those of a schema, which are plain JSON, alike. */
function order(value: unknown): Place | null {
  const place = placeOf(value);
  return place !== null && Number.isFinite(place.at) ? place : null;
}

function placeOf(value: unknown): Place | null {
  if (typeof value === 'number') return { kind: 'number', at: value };
  if (value instanceof Date) return { kind: 'date', at: value.getTime() };
  if (kindOf(value) === 'number') return { kind: 'number', at: Number(String(value)) };
  if (!isDocument(value)) return null;
  const number =
    value['$numberLong'] ?? value['$numberDecimal'] ?? value['$numberDouble'] ?? value['$numberInt'];
  if (number !== undefined) return { kind: 'number', at: Number(number) };
  const date = value['$date'];
  if (typeof date === 'string') return { kind: 'date', at: Date.parse(date) };
  return date === undefined ? null : { kind: 'date', at: placeOf(date)?.at ?? Number.NaN };
}

function folded(word: string): string {
  return word.trim().toLowerCase();
}
