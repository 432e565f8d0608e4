/**
 * Walks a filter's conditions: each by field, operator and value, or the filter with some of them changed. Anything
 * but a condition on a field ($expr, $text, $jsonSchema …) is reported but never entered.
 *
 * Invariants: the given filter is never written to; unchanged parts are shared, so a filter that needs no change
 * comes back as itself; any value at all is walked without failing.
 */
import { limits } from '../../model/limits.ts';
import { documentOf, isDocument } from './values.ts';

export interface Condition {
  /** Dotted path from the document's root; empty for conditions on the whole document. */
  path: string;
  /** `$eq` for a bare value in the filter, `$regex` for a bare expression. */
  operator: string;
  value: unknown;
  /** Every selected document must fulfil it: no $or, $nor or $not is around it. */
  required: boolean;
  /** All operators given on the same field, itself included; empty for a bare value. */
  beside: Readonly<Record<string, unknown>>;
}

export interface Change {
  operator: string;
  value: unknown;
}

/** Skips a change to an operator that already stands beside the condition: one of both would be lost. */
export function mapFilter<T>(filter: T, change: (condition: Condition) => Change | null): T {
  return mapQuery(filter, { prefix: '', required: true, depth: 0, change }) as T;
}

export function conditionsOf(filter: unknown): Condition[] {
  const conditions: Condition[] = [];
  mapFilter(filter, (condition) => {
    conditions.push(condition);
    return null;
  });
  return conditions;
}

/** Returns true for an object whose first key is an operator; a DBRef is a value. */
export function isOperators(value: unknown): value is Record<string, unknown> {
  if (!isDocument(value)) return false;
  const first = Object.keys(value)[0];
  return first?.startsWith('$') === true && !['$ref', '$id', '$db'].includes(first);
}

interface Scope {
  prefix: string;
  required: boolean;
  depth: number;
  change: (condition: Condition) => Change | null;
}

const COMBINING = new Set(['$and', '$or', '$nor']);

function mapQuery(query: unknown, scope: Scope): unknown {
  if (!isDocument(query) || scope.depth > limits.documents.depth) return query;
  return mapEntries(query, (key, value) => {
    if (COMBINING.has(key)) return [key, mapBranches(key, value, scope)];
    if (!key.startsWith('$')) return [key, mapField(scope.prefix + key, value, scope)];
    scope.change({ path: '', operator: key, value, required: scope.required, beside: {} });
    return [key, value];
  });
}

function mapBranches(key: string, branches: unknown, scope: Scope): unknown {
  if (!Array.isArray(branches)) return branches;
  const always = key === '$and' || (key === '$or' && branches.length === 1);
  const within = { ...deeper(scope), required: scope.required && always };
  return mapItems(branches, (branch) => mapQuery(branch, within));
}

function mapField(path: string, value: unknown, scope: Scope): unknown {
  if (isOperators(value)) return mapOperators(path, value, deeper(scope));
  const operator = isRegex(value) ? '$regex' : '$eq';
  const changed = scope.change({ path, operator, value, required: scope.required, beside: {} });
  if (changed === null) return value;
  return changed.operator === '$eq' ? changed.value : { [changed.operator]: changed.value };
}

function mapOperators(path: string, operators: Record<string, unknown>, scope: Scope): unknown {
  if (scope.depth > limits.documents.depth) return operators;
  return mapEntries(operators, (operator, value) => {
    if (operator === '$options') return [operator, value];
    if (operator === '$not') return [operator, mapNot(path, value, scope)];
    if (operator === '$elemMatch') return [operator, mapElement(path, value, scope)];
    if (operator === '$all' && Array.isArray(value) && value.some(isElemMatch)) {
      return [operator, mapItems(value, (item) => mapField(path, item, deeper(scope)))];
    }
    const changed = scope.change({ path, operator, value, required: scope.required, beside: operators });
    if (changed === null) return [operator, value];
    if (changed.operator !== operator && Object.hasOwn(operators, changed.operator)) return [operator, value];
    return [changed.operator, changed.value];
  });
}

function mapNot(path: string, value: unknown, scope: Scope): unknown {
  const within = { ...deeper(scope), required: false };
  return isOperators(value) || isRegex(value) ? mapField(path, value, within) : value;
}

/** The operand is either operators on the elements themselves, or a filter on elements that are documents. */
function mapElement(path: string, value: unknown, scope: Scope): unknown {
  const within = deeper(scope);
  const onValues = isOperators(value) && !Object.keys(value).some((key) => COMBINING.has(key));
  return onValues ? mapOperators(path, value, within) : mapQuery(value, { ...within, prefix: `${path}.` });
}

function deeper(scope: Scope): Scope {
  return { ...scope, depth: scope.depth + 1 };
}

function isElemMatch(value: unknown): boolean {
  return isOperators(value) && Object.hasOwn(value, '$elemMatch');
}

function isRegex(value: unknown): boolean {
  return value instanceof RegExp || (value as { _bsontype?: unknown } | null)?._bsontype === 'BSONRegExp';
}

function mapEntries(
  document: Record<string, unknown>,
  map: (key: string, value: unknown) => [string, unknown],
): Record<string, unknown> {
  let changed = false;
  const entries = Object.entries(document).map(([key, value]) => {
    const mapped = map(key, value);
    changed ||= mapped[0] !== key || !Object.is(mapped[1], value);
    return mapped;
  });
  return changed ? documentOf(entries) : document;
}

function mapItems(items: unknown[], map: (item: unknown) => unknown): unknown[] {
  const mapped = items.map(map);
  return mapped.some((item, index) => !Object.is(item, items[index])) ? mapped : items;
}
