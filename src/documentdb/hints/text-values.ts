/** Reads values that callers write as plain strings and documents hold as types of their own. */
import { type CollectionSchema, fieldAt } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { Decimal128, ObjectId } from '../bson/library.ts';
import { parseInstant, readNumber } from '../bson/parse/read-scalars.ts';
import { mapFilter } from './filter-walk.ts';
import { leadingOf, type Stage, without } from './leading-stages.ts';
import { type Held, heldBy } from './values.ts';

export interface Reading {
  type: 'objectId' | 'date' | 'number';
  /** Possible meanings of the text, the likeliest first: a decimal number is no double, and may be either. */
  values: readonly [unknown, ...unknown[]];
  /** The text has no time: its midnight was taken. */
  dayOnly: boolean;
  /** The text has a time without an offset: UTC was taken. */
  zoneAssumed: boolean;
}

/** Decides by the text's own form; null for any other text. No text has two forms. */
export function readText(text: string): Reading | null {
  if (/^[0-9a-f]{24}$/i.test(text)) return plain('objectId', [new ObjectId(text)]);
  const numbers = numbersOf(text);
  if (numbers !== null) return plain('number', numbers);
  const ms = parseInstant(text);
  if (ms === null) return null;
  const time = /[Tt ](.*)$/.exec(text)?.[1];
  const zoneAssumed = time !== undefined && !/[Zz+-]/.test(time);
  return { type: 'date', values: [new Date(ms)], dayOnly: time === undefined, zoneAssumed };
}

/** Number of digits that a decimal of the server holds. */
const MAX_DIGITS = 34;
/** Integers of this length always fit a long. */
const LONG_DIGITS = 18;

/** Accepts only text in JSON's number form without an exponent: `007` is a name, and so is `1e5`. */
function numbersOf(text: string): Reading['values'] | null {
  const parts = /^-?(0|[1-9]\d*)(\.\d+)?$/.exec(text);
  if (parts === null) return null;
  const [, whole = '', fraction = ''] = parts;
  if (whole.length + fraction.length > MAX_DIGITS) return null;
  const decimal = () => Decimal128.fromString(text);
  if (fraction === '') return [whole.length <= LONG_DIGITS ? readNumber(text) : decimal()];
  return [readNumber(text), decimal()];
}

function plain(type: Reading['type'], values: Reading['values']): Reading {
  return { type, values, dayOnly: false, zoneAssumed: false };
}

/**
 * Rewrites a filter as its schema suggests that it is meant: strings become the types of their fields. It only
 * explains a result, and is never sent as a query of its own. Returns the filter itself when no string changes.
 */
export function meantFilter<T>(filter: T, schema: CollectionSchema): T {
  const heldAt = rememberHeld(schema);
  return mapFilter(filter, ({ path, operator, value }) => {
    if (!COMPARING.has(operator)) return null;
    const read = (item: unknown) => (typeof item === 'string' ? meant(item, heldAt(path)) : item);
    if (!Array.isArray(value)) {
      const item = read(value);
      return Object.is(item, value) ? null : { operator, value: item };
    }
    const items = value.map(read);
    return items.some((item, index) => !Object.is(item, value[index])) ? { operator, value: items } : null;
  });
}

/** Covers only stages that still see the collection's own documents: a later one may have reused a field's name. */
export function meantPipeline(stages: readonly Stage[], schema: CollectionSchema): readonly Stage[] {
  const { leading } = leadingOf(stages);
  let meantStages = stages;
  for (const { index, name, body, written } of leading) {
    if (name !== '$match') continue;
    const $match = meantFilter(body, without(schema, written));
    if (!Object.is($match, body)) meantStages = meantStages.with(index, { $match });
  }
  return meantStages;
}

const COMPARING = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$all']);

/** A field that holds strings too may be meant as a string. */
function meant(text: string, held: Held | null): unknown {
  if (held === null || held.shares.has('string')) return text;
  const reading = readText(text);
  return reading !== null && held.shares.has(reading.type) ? reading.values[0] : text;
}

type HeldAt = (path: string) => Held | null;

/** Looks each path up once, however long the list of its values is; past the bound the answer is null. */
function rememberHeld(schema: CollectionSchema): HeldAt {
  const known = new Map<string, Held | null>();
  return (path) => {
    const remembered = known.get(path);
    if (remembered !== undefined || known.size >= limits.documents.hintedConditions)
      return remembered ?? null;
    const field = fieldAt(schema, path);
    const held = field && heldBy(field);
    known.set(path, held);
    return held;
  };
}
