/**
 * What a filter demands of documents: each condition by field, operator and value, and the filter with some of them
 * changed. What is no condition on a field ($expr, $text, $jsonSchema …) is told but never entered.
 *
 * Invariants: the filter given is never written to; parts that nothing changed are shared, so a filter that needs no
 * change comes back as itself; any value at all is walked without failing.
 */
import { limits } from '../../model/limits.ts';
import { documentOf, isDocument } from './values.ts';

export interface Condition {
  /** From the document's root, with dots; empty for what is asked of the whole document. */
  path: string;
  /** `$eq` where the filter gives a bare value, `$regex` where it gives a bare expression. */
  operator: string;
  value: unknown;
  /** It must hold of every selected document: no $or, $nor or $not is around it. */
  required: boolean;
  /** The operators that it was given with, itself among them; empty for a bare value. */
  beside: Readonly<Record<string, unknown>>;
}

export interface Change {
  operator: string;
  value: unknown;
}

/** A change to an operator that stands beside the condition already would lose one of both, and is not made. */
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

/** An object whose first key is an operator; a DBRef is a value. */
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

/** Its operand is either operators on the elements themselves, or a filter on elements that are documents. */
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
