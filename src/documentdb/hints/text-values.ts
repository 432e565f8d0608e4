/** Reads values that callers write as plain strings and documents hold as types of their own. */
import { Decimal128, ObjectId } from '../bson/library.ts';
import { parseInstant, readNumber } from '../bson/parse/read-scalars.ts';

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
