/**
 * Finds queries of a large collection that no index narrows, and names the indexes that could.
 *
 * Indexes of unknown extent (partial ones) get the benefit of the doubt: a note states only certain facts.
 */
import { type CollectionSchema, FILTER_PARAMETER, type IndexInfo } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { type Condition, conditionsOf } from './filter-walk.ts';
import { isDocument, kindOf, listed, named } from './values.ts';

export interface IndexQuestion {
  filter: unknown;
  /** Sort fields, the first one first. */
  sort?: readonly string[] | undefined;
  schema: CollectionSchema;
  /** The caller's names for filter and sort. */
  parameter?: string;
  sortParameter?: string;
}

/** Returns one note, or none when an index serves. */
export function indexNotes(question: IndexQuestion): string[] {
  const { filter, sort = [], schema, parameter = FILTER_PARAMETER, sortParameter = 'sort' } = question;
  const count = schema.documentCount ?? 0;
  if (schema.type !== 'collection' || count < limits.documents.largeCollection) return [];
  const about = `about ${count} documents`;
  const filters = isDocument(filter) && Object.keys(filter).some((key) => key !== '$comment');
  if (filters) {
    if (isNarrowed(filter, indexesOf(schema))) return [];
    return [`${parameter}: no index narrows it, so ${about} may be read. ${remedy(schema)}`];
  }
  const [first] = sort;
  if (first === undefined || indexesOf(schema).some((index) => orders(index, first))) return [];
  return [`${sortParameter}: no index has this order, so ${about} are read and sorted. ${inOrder(schema)}`];
}

/** Returns true when the server can, or may, answer from part of the collection. */
export function isNarrowed(filter: unknown, indexes: readonly IndexInfo[]): boolean {
  if (!isDocument(filter)) return false;
  return Object.entries(filter).some(([key, value]) => {
    const branches = Array.isArray(value) ? value : [];
    if (key === '$and') return branches.some((branch) => isNarrowed(branch, indexes));
    if (key === '$or') return branches.length > 0 && branches.every((branch) => isNarrowed(branch, indexes));
    return conditionsOf({ [key]: value }).some((asked) => asked.required && narrows(asked, indexes));
  });
}

/** Every collection has an index on `_id`, listed or not. */
export function indexesOf({ indexes }: CollectionSchema): IndexInfo[] {
  return [{ name: '_id_', key: { _id: 1 }, unique: true }, ...indexes.filter(({ name }) => name !== '_id_')];
}

function narrows({ path, operator, value, beside }: Condition, indexes: readonly IndexInfo[]): boolean {
  return indexes.some((index) => {
    const [field, kind] = Object.entries(index.key)[0] ?? ['', ''];
    if (operator === '$text') return Object.values(index.key).includes('text');
    if (!covers(field, path)) return false;
    if (kind === 1 || kind === -1) return isInOrder(operator, value, beside, index);
    if (kind === 'hashed') return operator === '$eq' || operator === '$in';
    if (kind === '2dsphere' || kind === '2d') return GEOGRAPHIC.has(operator);
    return false;
  });
}

const GEOGRAPHIC = new Set(['$geoWithin', '$geoIntersects', '$near', '$nearSphere', '$within']);
const ORDERED = new Set(['$gt', '$gte', '$lt', '$lte', '$all', '$type', '$mod', '$elemMatch']);

/** An index on array elements has their path without numbers; one on `$**` has every path. */
function covers(indexed: string, path: string): boolean {
  if (path === '') return false;
  if (indexed === '$**') return true;
  if (indexed.endsWith('.$**')) return path.startsWith(indexed.slice(0, -3));
  return indexed === path || indexed === path.replace(/\.\d+(?=\.|$)/g, '');
}

function isInOrder(operator: string, value: unknown, beside: Condition['beside'], index: IndexInfo): boolean {
  if (operator === '$eq') return value !== null || index.sparse !== true;
  if (operator === '$in') return Array.isArray(value) && (!value.includes(null) || index.sparse !== true);
  if (operator === '$exists') return value !== false && value !== 0;
  if (operator === '$regex') return isAnchored(value, beside['$options']);
  return ORDERED.has(operator);
}

/** Only a case-sensitive prefix with at least one fixed character is a range of an index. */
function isAnchored(value: unknown, given: unknown): boolean {
  const { source, options } = expressionOf(value, given);
  const begins = /^(?:\^|\\A)(?:[^\\.^$*+?()[\]{}|]|\\[^A-Za-z0-9])(?![?*{])/.test(source);
  return begins && !source.includes('|') && !/[imx]/.test(options);
}

function expressionOf(value: unknown, given: unknown): { source: string; options: string } {
  const beside = typeof given === 'string' ? given : '';
  if (value instanceof RegExp) return { source: value.source, options: value.flags + beside };
  if (kindOf(value) !== 'regex') return { source: typeof value === 'string' ? value : '', options: beside };
  const { pattern, options } = value as { pattern: string; options: string };
  return { source: pattern, options: options + beside };
}

/** A sparse or partial index lacks documents, so it cannot order all of them. */
function orders(index: IndexInfo, field: string): boolean {
  return isWhole(index) && Object.keys(index.key)[0] === field;
}

function isWhole({ key, sparse, partial }: IndexInfo): boolean {
  const kind = Object.values(key)[0];
  return (kind === 1 || kind === -1) && sparse !== true && partial !== true;
}

function remedy(schema: CollectionSchema): string {
  const keys = indexesOf(schema).map(({ key, partial, sparse }) => {
    const parts = Object.entries(key).map(([field, kind]) =>
      typeof kind === 'number' ? named(field) : `${named(field)} (${named(kind)})`,
    );
    const limited = partial ? ' (partial)' : sparse ? ' (sparse)' : '';
    return `${parts.join(' + ')}${limited}`;
  });
  return `A condition on the first field of an index does: ${choice(keys)}.`;
}

function inOrder(schema: CollectionSchema): string {
  const fields = indexesOf(schema)
    .filter(isWhole)
    .map(({ key }) => named(Object.keys(key)[0] ?? ''));
  return `Indexes have the order of ${choice([...new Set(fields)])}; or narrow it by a filter.`;
}

/** Lists the collection's own indexes before the one that all have. */
function choice(indexes: readonly string[]): string {
  return listed([...indexes.slice(1), ...indexes.slice(0, 1)], limits.documents.noteItems * 2);
}
