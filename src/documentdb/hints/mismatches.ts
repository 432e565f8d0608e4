/**
 * Finds conditions that compare a field with a type that it was never seen to hold: these match nothing, whatever the
 * value.
 */
import type { CollectionSchema, FieldSchema } from '../../model/documents/schema.ts';
import { fieldAt } from '../../model/documents/schema-lookup.ts';
import { limits } from '../../model/limits.ts';
import { type Condition, conditionsOf } from './filter-walk.ts';
import { adviceFor, isStrange, strangeIn } from './strange-expressions.ts';
import { type Held, heldBy, kindOf, listed, named, seenIn, show } from './values.ts';

export function mismatches(filter: unknown, schema: CollectionSchema, parameter: string): string[] {
  const judged = conditionsOf(filter).slice(0, limits.documents.hintedConditions);
  const notes = judged.flatMap((condition) => mismatch(condition, schema));
  return notes.map((text) => `${parameter}: ${text}`);
}

/** Returns none when the condition may match, as far as the schema shows. */
export function mismatch(condition: Condition, schema: CollectionSchema): string[] {
  if (condition.operator === '$expr') return strangeIn(condition.value, schema);
  const field = fieldAt(schema, condition.path);
  const held = field && heldBy(field);
  const note = field && held && describe(condition, field, held, seenIn(schema));
  return note ? [note] : [];
}

const COMPARING = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin']);
function describe(
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
  const strange = values.filter((item) => isStrange(item, held));
  if (strange.length < values.length) return null;
  const given = `${named(path)} is compared with the ${kindOf(strange[0])} ${show(strange[0])}`;
  return `${given}, but ${holds}; only values of one type are ever equal or in order.${adviceFor(strange[0], held, field)}`;
}
