/**
 * Finds the continuation of a find. Sorted by `_id` alone it is a filter, which costs the server nothing at any
 * depth and neither repeats nor misses a document; otherwise a number of documents to skip.
 *
 * A query with a skip continues by skipping: a filter beside the same skip would miss documents.
 *
 * Servers compare only values of one kind with `$gt` and `$lt`, so a filter is used only when every remaining
 * `_id` is of the last one's kind: the far end of the collection shows it.
 */
import type { Document } from 'mongodb';
import { limits } from '../../model/limits.ts';
import { readField } from '../bson/field.ts';
import { formatEjson } from '../bson/parse/parse.ts';
import { isPlainObject, type Sort, switchOf } from './query-text.ts';

export type NextPage = { filter: string } | { skip: number };

export interface PageEnd {
  /** As the caller gave it. */
  filter: Document;
  projection: Document | null;
  sort: Sort | null;
  /** Documents before this page. */
  skipped: number;
  /** Documents on it. */
  returned: number;
  /** Bytes of the last document. */
  last: Uint8Array | null;
}

/** @param farEnd Returns the bytes of the last document in that direction; null when that is not cheap to find. */
export async function nextPage(
  end: PageEnd,
  farEnd: (direction: 1 | -1) => Promise<Uint8Array | null>,
): Promise<NextPage | undefined> {
  const direction = end.sort?.size === 1 && end.skipped === 0 ? end.sort.get('_id') : undefined;
  if (direction !== undefined && end.last && showsId(end.projection)) {
    const last = idOf(end.last);
    const kind = kindOf(last);
    if (kind !== null && kind === kindOf(idOf(await farEnd(direction)))) {
      return { filter: formatEjson(beyond(end.filter, last, direction)) };
    }
  }
  const skip = end.skipped + end.returned;
  return skip <= limits.documents.skip.max ? { skip } : undefined;
}

/**
 * Returns the same filter and `_id` beyond that one. An earlier page's addition is replaced, so that it does not
 * grow.
 */
export function beyond(filter: Document, last: unknown, direction: 1 | -1): Document {
  const operator = direction === 1 ? '$gt' : '$lt';
  const bound = { [operator]: last };
  const earlier: unknown = filter['_id'];
  const isReplaced =
    isPlainObject(earlier) && Object.keys(earlier).length === 1 && Object.hasOwn(earlier, operator);
  if (!Object.hasOwn(filter, '_id') || isReplaced) return { ...filter, _id: bound };
  return { $and: [filter, { _id: bound }] };
}

function showsId(projection: Document | null): boolean {
  if (!projection) return true;
  const touched = Object.keys(projection).filter((name) => name === '_id' || name.startsWith('_id.'));
  return touched.every((name) => name === '_id' && switchOf(projection[name]) === true);
}

/** Returns the exact value, or undefined. */
function idOf(document: Uint8Array | null): unknown {
  if (!document) return undefined;
  try {
    return readField(document, '_id');
  } catch {
    return undefined;
  }
}

/** Returns the kind of mutually comparable values; null for those that cannot bound a range. */
function kindOf(value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value;
  if (value instanceof Date) return 'date';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const type: unknown = Reflect.get(value, '_bsontype');
  switch (type) {
    case 'Int32':
    case 'Long':
    case 'Double':
    case 'Decimal128':
      return String(value) === 'NaN' ? null : 'number';
    case 'ObjectId':
    case 'Binary':
    case 'Timestamp':
      return type;
    default:
      return null;
  }
}
