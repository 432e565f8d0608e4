/** Reads other meanings of one condition's values, null when none of its strings has one, and writes the notes about them. */
import { limits } from '../../../model/limits.ts';
import { type Reading, readText } from '../../hints/text-values.ts';
import { documentOf, isDocument, listedAs, named, show } from '../../hints/values.ts';

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

/** For a result that only the other form of the filter yielded. */
export function tellCoerced(strings: readonly ReadString[], parameter: string): string {
  const asked = `This result also compares ${compared(strings)}, as the strings may have been meant.`;
  return `${parameter} matches nothing as written. ${asked}${remarks(strings)}`;
}

/** For a result that stayed empty. */
export function tellNeither(strings: readonly ReadString[], parameter: string): string {
  return `${parameter} matches nothing as written, nor where it compares ${compared(strings)}.${remarks(strings)}`;
}

/** For another form that failed, or ran out of time. */
export function tellUntried(strings: readonly ReadString[], parameter: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `${parameter}: the form that also compares ${compared(strings)} could not be tried: ${reason}`;
}

/** `created_at with {"$date": …} and {"$date": …}, customer_id with {"$oid": …}` */
function compared(strings: readonly ReadString[]): string {
  const groups = [...Map.groupBy(strings, ({ path }) => path)];
  return listedAs(groups, ([path, group]) => {
    // Grouped by text, since there may be very many, and only a few are written out.
    const values = [...new Map(group.map(({ text, reading }) => [text, reading.values[0]])).values()];
    const most = Math.max(1, Math.floor(limits.documents.noteItems / groups.length));
    return `${named(path)} with ${listedAs(values, show, most)}`;
  });
}

/** Explains the reading of a date where its text is ambiguous. */
function remarks(strings: readonly ReadString[]): string {
  const days = strings.filter(({ reading }) => reading.dayOnly);
  const said: string[] = [];
  if (strings.some(({ reading }) => reading.zoneAssumed))
    said.push(' A time without an offset was taken as UTC.');
  if (days.length > 0) said.push(' A date alone means its midnight, UTC.');
  if (days.some(({ operator }) => operator === '$lte')) {
    said.push(' $lte leaves out the rest of that day; $lt of the next day has it.');
  }
  if (days.some(({ operator }) => operator === '$eq')) {
    said.push(' For the whole day use $gte of it and $lt of the next.');
  }
  return said.join('');
}
