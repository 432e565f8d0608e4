/**
 * Where a find goes on. Sorted by `_id` alone it is a filter, which costs the server nothing however far it is and
 * neither repeats nor misses a document; otherwise a number of documents to skip.
 *
 * Who skips already goes on skipping: a filter beside the same skip would miss documents.
 *
 * Servers compare only values of one kind with `$gt` and `$lt`, so a filter stands only where every `_id` that is
 * still to come is of the last one's kind: the far end of the collection tells.
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
  /** The bytes of the last document. */
  last: Uint8Array | null;
}

/** @param farEnd The bytes of the document that is last in that direction; null where that is not cheap to know. */
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

/** The same filter and `_id` beyond that one. What an earlier page added is replaced, so that it does not grow. */
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

/** Exact, or undefined. */
function idOf(document: Uint8Array | null): unknown {
  if (!document) return undefined;
  try {
    return readField(document, '_id');
  } catch {
    return undefined;
  }
}

/** Values of one kind are compared with each other; null for those that a bound cannot be made of. */
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
