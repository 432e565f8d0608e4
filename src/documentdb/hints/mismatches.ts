/** Conditions that compare a field with a type that it was never seen to hold: these match nothing, whatever the value. */
import type { CollectionSchema, FieldSchema } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { fieldAt } from '../../model/schema-lookup.ts';
import { type Condition, conditionsOf } from './filter-walk.ts';
import { readText } from './text-values.ts';
import { type Held, heldBy, kindOf, listed, named, seenIn, show, showSeen } from './values.ts';

export function mismatches(filter: unknown, schema: CollectionSchema, parameter: string): string[] {
  const judged = conditionsOf(filter).slice(0, limits.documents.hintedConditions);
  const told = judged.flatMap((condition) => mismatch(condition, schema) ?? []);
  return told.map((text) => `${parameter}: ${text}`);
}

/** null when the condition may match, as far as the schema says. */
export function mismatch(condition: Condition, schema: CollectionSchema): string | null {
  const field = fieldAt(schema, condition.path);
  const held = field && heldBy(field);
  return field && held && tell(condition, field, held, seenIn(schema));
}

const COMPARING = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin']);
/** Kinds that are compared in ways of their own, or that no one writes by mistake. */
const UNJUDGED = new Set(['null', 'regex', 'array', 'object', 'other']);

function tell(
  { path, operator, value }: Condition,
  field: FieldSchema,
  held: Held,
  seen: string,
): string | null {
  const holds = `holds ${listed(held.types)}${seen}`;
  if (operator === '$regex') {
    if (held.shares.has('string')) return null;
    const instead = held.shares.has('date') ? ' Use $gte and $lt with {"$date": "…"}.' : '';
    return `$regex matches strings only, but ${named(path)} ${holds}.${instead}`;
  }
  if (operator === '$size') {
    return held.shares.has('array') ? null : `$size counts arrays only, but ${named(path)} ${holds}.`;
  }
  if (!COMPARING.has(operator)) return null;
  const values = operator === '$in' || operator === '$nin' ? value : [value];
  if (!Array.isArray(values) || values.length === 0) return null;
  const strange = values.filter((item) => !UNJUDGED.has(kindOf(item)) && !held.shares.has(kindOf(item)));
  if (strange.length < values.length) return null;
  const given = `${named(path)} is compared with the ${kindOf(strange[0])} ${show(strange[0])}`;
  return `${given}, but ${holds}; only values of one type are ever equal or in order.${advice(strange[0], held, field)}`;
}

/** How the value is written so that it may match. */
function advice(value: unknown, { shares }: Held, field: FieldSchema): string {
  const given = kindOf(value);
  if (given === 'string') return adviceForText(value as string, shares);
  if (shares.has('string')) return adviceForStrings(value, given, field);
  if (given === 'number' && shares.has('date')) {
    return ` Write a date as {"$date": "2024-01-31T00:00:00Z"}.`;
  }
  return '';
}

function adviceForText(text: string, shares: Held['shares']): string {
  const reading = readText(text);
  if (reading !== null && shares.has(reading.type)) return ` Write ${show(reading.value)}.`;
  if (shares.has('number') && /^-?\d+(?:\.\d+)?$/.test(text)) return ` Write ${text} without quotes.`;
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
