/** Reads other meanings of one condition's values: null when none of its strings has one. */
import { limits } from '../../../model/limits.ts';
import { type Reading, readText } from '../../hints/text-values.ts';
import { documentOf, isDocument } from '../../hints/values.ts';

/** A string read as another type, and its place. */
export interface ReadString {
  /** Dotted path from the document's root. */
  path: string;
  operator: string;
  text: string;
  reading: Reading;
}

export interface ValuePlace {
  path: string;
  operator: string;
  /** Collects every string that is read. */
  strings: ReadString[];
}

/** Takes a string, or a list or document with such strings, which is compared as a whole. */
export function readValue(value: unknown, place: ValuePlace): readonly unknown[] | null {
  if (typeof value === 'string') return readString(value, place)?.values ?? null;
  const whole = readWithin(value, place, 0);
  return whole === value ? null : [whole];
}

/** Returns each item, followed by its other meanings. */
export function readList(items: unknown, place: ValuePlace): unknown[] | null {
  if (!Array.isArray(items)) return null;
  const listed: unknown[] = [];
  for (const item of items) listed.push(item, ...(readValue(item, place) ?? []));
  return listed.length === items.length ? null : listed;
}

/** Returns bounds by operator, their strings replaced. */
export function readBounds(
  bounds: readonly [string, unknown][],
  place: Omit<ValuePlace, 'operator'>,
): Record<string, unknown> | null {
  let changed = false;
  const entries = bounds.map(([operator, bound]): [string, unknown] => {
    const reading = typeof bound === 'string' ? readString(bound, { ...place, operator }) : null;
    changed ||= reading !== null;
    return [operator, reading?.values[0] ?? bound];
  });
  return changed ? documentOf(entries) : null;
}

/** Past the bound no string is read: the filter is then not tried in another form. */
function readString(text: string, { path, operator, strings }: ValuePlace): Reading | null {
  if (strings.length >= limits.documents.readStrings) return null;
  const reading = readText(text);
  if (reading !== null) strings.push({ path, operator, text, reading });
  return reading;
}

function readWithin(value: unknown, place: ValuePlace, depth: number): unknown {
  if (typeof value === 'string') return readString(value, place)?.values[0] ?? value;
  if (depth > limits.documents.depth) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => readWithin(item, place, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isDocument(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    return [key, readWithin(item, { ...place, path: `${place.path}.${key}` }, depth + 1)];
  });
  return entries.some(([key, item]) => item !== value[key]) ? documentOf(entries) : value;
}
