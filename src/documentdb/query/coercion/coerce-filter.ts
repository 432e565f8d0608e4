/**
 * Builds the form of a filter that a caller may have meant: each string in the form of an objectId, a date or a number
 * is compared as that type too. The filter alone decides, never documents seen before.
 *
 * Every value is compared with the form of its own type: a condition matches everything it matched as written, and the
 * meanings of its strings; a negated one excludes both.
 *
 * Invariants: the given filter is never written to; unchanged parts are shared with it.
 */
import { limits } from '../../../model/limits.ts';
import { isOperators } from '../../hints/filter-walk.ts';
import { documentOf, isDocument } from '../../hints/values.ts';
import { type ReadString, readBounds, readList, readValue } from './read-values.ts';

export type Query = Record<string, unknown>;

export interface CoercedFilter {
  filter: Query;
  /** Never empty. */
  strings: ReadString[];
}

/** Returns null when no string has another meaning, or more have than are tried. */
export function coerceFilter(filter: unknown): CoercedFilter | null {
  if (!isDocument(filter)) return null;
  const strings: ReadString[] = [];
  const coerced = coerceQuery(filter, { prefix: '', depth: 0, strings });
  const isMany = strings.length >= limits.documents.readStrings;
  return coerced === filter || isMany ? null : { filter: coerced, strings };
}

interface Scope {
  prefix: string;
  depth: number;
  strings: ReadString[];
}

interface Place extends Scope {
  /** The field's name in the surrounding query. */
  key: string;
  path: string;
}

const COMBINING = new Set(['$and', '$or', '$nor']);
const RANGES = new Set(['$gt', '$gte', '$lt', '$lte']);

/** Returns the query itself when nothing changes. */
function coerceQuery(query: Query, scope: Scope): Query {
  if (scope.depth > limits.documents.depth) return query;
  const added: Query[] = [];
  let changed = false;
  const kept = Object.entries(query).flatMap(([key, value]): [string, unknown][] => {
    if (key.startsWith('$')) {
      const branches = COMBINING.has(key) ? coerceBranches(value, deeper(scope)) : value;
      changed ||= branches !== value;
      return [[key, branches]];
    }
    const conjuncts = coerceField({ ...scope, key, path: scope.prefix + key }, value);
    if (conjuncts === null) return [[key, value]];
    changed = true;
    const [only] = conjuncts;
    if (conjuncts.length === 1 && only && Object.hasOwn(only, key)) return [[key, only[key]]];
    added.push(...conjuncts);
    return [];
  });
  return changed ? conjunction(kept, added) : query;
}

function coerceBranches(branches: unknown, scope: Scope): unknown {
  if (!Array.isArray(branches)) return branches;
  const coerced = branches.map((branch) => (isDocument(branch) ? coerceQuery(branch, scope) : branch));
  return coerced.some((branch, index) => branch !== branches[index]) ? coerced : branches;
}

function conjunction(entries: [string, unknown][], conjuncts: readonly Query[]): Query {
  const [first] = conjuncts;
  if (first === undefined) return documentOf(entries);
  if (entries.length === 0 && conjuncts.length === 1) return first;
  const own = entries.find(([key, value]) => key === '$and' && Array.isArray(value));
  const others = entries.filter((entry) => entry !== own);
  return documentOf([...others, ['$and', [...((own?.[1] as unknown[]) ?? []), ...conjuncts]]]);
}

/** Returns the conditions that must hold instead, all of them; null when nothing changes. */
function coerceField(place: Place, value: unknown): Query[] | null {
  const { key, depth } = place;
  if (!isOperators(value)) return asList(place, '$eq', value);
  if (depth > limits.documents.depth) return null;
  const made: Query[] = [];
  const kept: [string, unknown][] = [];
  // Both ends of a range stay together, so that an index narrows it from both.
  const ranges = Object.entries(value).filter(([operator]) => RANGES.has(operator));
  const bounds = readBounds(ranges, place);
  if (bounds) made.push({ $or: [{ [key]: documentOf(ranges) }, { [key]: bounds }] });
  for (const [operator, operand] of Object.entries(value)) {
    if (bounds && RANGES.has(operator)) continue;
    const conjuncts = coerceOperator(place, operator, operand);
    if (conjuncts === null) kept.push([operator, operand]);
    else made.push(...conjuncts);
  }
  if (made.length === 0) return null;
  return kept.length === 0 ? made : [{ [key]: documentOf(kept) }, ...made];
}

function coerceOperator(place: Place, operator: string, operand: unknown): Query[] | null {
  const { key } = place;
  switch (operator) {
    case '$eq':
    case '$ne':
      return asList(place, operator, operand);
    case '$in':
    case '$nin': {
      const list = readList(operand, { ...place, operator });
      return list && [{ [key]: { [operator]: list } }];
    }
    case '$all':
      return coerceAll(place, operand);
    case '$not': {
      const conjuncts = isOperators(operand) ? coerceField(deeper(place), operand) : null;
      return conjuncts && [{ $nor: [conjunction([], conjuncts)] }];
    }
    case '$elemMatch':
      return coerceElement(place, operand);
    default:
      return null;
  }
}

/** Replaces an operator on one value by its form for a list. */
const LIST_OF = { $eq: '$in', $ne: '$nin' } as const;

function asList(place: Place, operator: keyof typeof LIST_OF, value: unknown): Query[] | null {
  const readings = readValue(value, { ...place, operator });
  return readings && [{ [place.key]: { [LIST_OF[operator]]: [value, ...readings] } }];
}

/** Each item must match, like a condition of its own. */
function coerceAll(place: Place, items: unknown): Query[] | null {
  if (!Array.isArray(items)) return null;
  const coerced = items.map((item) => coerceField(deeper(place), item));
  if (coerced.every((conjuncts) => conjuncts === null)) return null;
  return coerced.flatMap((conjuncts, index) => conjuncts ?? [{ [place.key]: items[index] }]);
}

/** The operand is either operators on the elements themselves, or a filter on elements that are documents. */
function coerceElement(place: Place, operand: unknown): Query[] | null {
  const { key, path } = place;
  if (!isDocument(operand)) return null;
  if (!isOperators(operand) || Object.keys(operand).some((name) => COMBINING.has(name))) {
    const element = coerceQuery(operand, { ...deeper(place), prefix: `${path}.` });
    return element === operand ? null : [{ [key]: { $elemMatch: element } }];
  }
  const element = coerceElementOperators(place, operand);
  return element && [{ $or: [{ [key]: { $elemMatch: operand } }, { [key]: { $elemMatch: element } }] }];
}

/** Coerces them together, since one element must fulfil all. */
function coerceElementOperators(place: Place, operators: Query): Query | null {
  let changed = false;
  const entries = Object.entries(operators).map(([operator, operand]): [string, unknown] => {
    const coerced = coerceElementOperator(place, operators, operator, operand);
    changed ||= coerced !== null;
    return coerced ?? [operator, operand];
  });
  return changed ? documentOf(entries) : null;
}

function coerceElementOperator(
  place: Place,
  beside: Query,
  operator: string,
  operand: unknown,
): [string, unknown] | null {
  const at = { ...place, operator };
  if (RANGES.has(operator)) {
    const bounds = readBounds([[operator, operand]], place);
    return bounds && [operator, bounds[operator]];
  }
  if (operator === '$in' || operator === '$nin') {
    const list = readList(operand, at);
    return list && [operator, list];
  }
  if (operator !== '$eq' && operator !== '$ne') return null;
  const list = LIST_OF[operator];
  const readings = Object.hasOwn(beside, list) ? null : readValue(operand, at);
  return readings && [list, [operand, ...readings]];
}

function deeper<S extends Scope>(scope: S): S {
  return { ...scope, depth: scope.depth + 1 };
}
