/**
 * Finds conditions that compare a field with a type that it was never seen to hold: these match nothing, whatever the
 * value.
 */
import { type CollectionSchema, type FieldSchema, fieldAt } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { type Condition, conditionsOf } from './filter-walk.ts';
import { leadingOf, type Stage, without } from './leading-stages.ts';
import { readText } from './text-values.ts';
import { type Held, heldBy, isDocument, kindOf, listed, named, seenIn, show, showSeen } from './values.ts';

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

/**
 * Finds comparisons in expressions of a field with a constant of a type that it was never seen to hold. Unlike a
 * filter's they match by the order of types: every date is greater than any string, and nothing equals one. A
 * spelling that may match is suggested for them. Returns one line for each, without the place.
 */
function strangeIn(expression: unknown, schema: CollectionSchema): string[] {
  const found = comparisonsOf(expression).slice(0, limits.documents.hintedConditions);
  return found.flatMap((comparison) => strange(comparison, schema) ?? []);
}

/** Checks stages that compute from the collection's own documents; their $match is judged as filters are. */
export function strangeInStages(stages: readonly Stage[], schema: CollectionSchema): string[] {
  const { leading, reshaping } = leadingOf(stages);
  return [...leading, ...(reshaping ? [reshaping] : [])].flatMap(({ index, name, body, written }) => {
    if (name === '$match' || name === '$facet') return [];
    const notes = strangeIn(body, without(schema, written));
    return notes.map((text) => `pipeline[${index}]: ${text}`);
  });
}

interface Comparison {
  path: string;
  operator: string;
  value: unknown;
}

const COMPARING_IN_EXPRESSIONS = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp']);

function strange({ path, operator, value }: Comparison, schema: CollectionSchema): string | null {
  const field = fieldAt(schema, path);
  const held = field && heldBy(field);
  if (!field || !held || !isStrange(value, held)) return null;
  const given = `${operator} compares ${named(path)} with the ${kindOf(value)} ${show(value)}`;
  const holds = `it holds ${listed(held.types)}${seenIn(schema)}`;
  const order = 'expressions order values of different types by their types';
  return `${given}, but ${holds}; ${order}.${adviceFor(value, held, field)}`;
}

function comparisonsOf(expression: unknown, depth = 0): Comparison[] {
  if (depth > limits.documents.depth) return [];
  if (Array.isArray(expression)) return expression.flatMap((item) => comparisonsOf(item, depth + 1));
  if (!isDocument(expression)) return [];
  return Object.entries(expression).flatMap(([key, operand]) => {
    if (key === '$literal') return [];
    return [...comparisonOf(key, operand), ...comparisonsOf(operand, depth + 1)];
  });
}

/** Matches a field and a constant, in either order. */
function comparisonOf(operator: string, operands: unknown): Comparison[] {
  if (!Array.isArray(operands) || operands.length !== 2) return [];
  if (operator === '$in') {
    const path = pathOf(operands[0]);
    const list = Array.isArray(operands[1]) ? operands[1] : [];
    return path === null ? [] : list.flatMap((item) => constantOf(item, { path, operator }));
  }
  if (!COMPARING_IN_EXPRESSIONS.has(operator)) return [];
  const path = pathOf(operands[0]) ?? pathOf(operands[1]);
  const other = pathOf(operands[0]) === null ? operands[0] : operands[1];
  return path === null ? [] : constantOf(other, { path, operator });
}

function constantOf(operand: unknown, place: Omit<Comparison, 'value'>): Comparison[] {
  const isLiteral = isDocument(operand) && Object.hasOwn(operand, '$literal');
  const value = isLiteral ? operand['$literal'] : operand;
  const isComputed = typeof value === 'string' && value.startsWith('$') && !isLiteral;
  return isComputed ? [] : [{ ...place, value }];
}

function pathOf(operand: unknown): string | null {
  return typeof operand === 'string' && /^\$[^$]/.test(operand) ? operand.slice(1) : null;
}

/** Kinds with comparison rules of their own, or never written by mistake. */
const UNJUDGED = new Set(['null', 'regex', 'array', 'object', 'other']);

/** Returns true when the field was seen to hold values, and none of this one's type. */
function isStrange(value: unknown, { shares }: Held): boolean {
  return !UNJUDGED.has(kindOf(value)) && !shares.has(kindOf(value));
}

/** Suggests a spelling of the value that may match. */
function adviceFor(value: unknown, { shares }: Held, field: FieldSchema): string {
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
