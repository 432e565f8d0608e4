/** Judges values of a type that a field was never seen to hold, and suggests a spelling that may match. */
import type { FieldSchema } from '../../model/documents/schema.ts';
import { readText } from './text-values.ts';
import { type Held, kindOf, show, showSeen } from './values.ts';

/** Kinds with comparison rules of their own, or never written by mistake. */
const UNJUDGED = new Set(['null', 'regex', 'array', 'object', 'other']);

/** Returns true when the field was seen to hold values, and none of this one's type. */
export function isStrange(value: unknown, { shares }: Held): boolean {
  return !UNJUDGED.has(kindOf(value)) && !shares.has(kindOf(value));
}

/** Suggests a spelling of the value that may match. */
export function adviceFor(value: unknown, { shares }: Held, field: FieldSchema): string {
  const given = kindOf(value);
  if (given === 'string') return adviceForText(value as string, shares);
  if (shares.has('string')) return adviceForStrings(value, given, field);
  if (given === 'number' && shares.has('date')) {
    return ` Write a date as {"$date": "2024-01-31T00:00:00Z"}.`;
  }
  return '';
}

function adviceForText(text: string, shares: Held['shares']): string {
  if (shares.has('number') && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text))
    return ` Write ${text} without quotes.`;
  const reading = readText(text);
  if (reading !== null && shares.has(reading.type)) return ` Write ${show(reading.values[0])}.`;
  if (shares.has('bool') && /^(?:true|false)$/i.test(text)) {
    return ` Write ${text.toLowerCase()} without quotes.`;
  }
  if (shares.has('date')) return ` Write a date as {"$date": "2024-01-31T00:00:00Z"}.`;
  if (shares.has('objectId')) return ' Write an objectId as {"$oid": "…"} with 24 hexadecimal digits.';
  const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
  return uuid && shares.has('binData') ? ` Write {"$uuid": "${text}"}.` : '';
}

function adviceForStrings(value: unknown, given: string, field: FieldSchema): string {
  const example = field.enum?.[0]?.value ?? field.examples[0];
  const like = typeof example === 'string' ? ` such as ${showSeen(example)}` : '';
  if (given === 'number' || given === 'bool') return ` Write "${String(value)}" in quotes.`;
  return ` Write it as the string that the documents have${like}.`;
}
