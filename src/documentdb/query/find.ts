/** Represents a find: parsed and checked on creation, sent when it runs. */
import type { AbstractCursor, Document, MongoClient } from 'mongodb';
import type {
  DocumentsQuery,
  ExportedQuery,
  FindRequest,
  QueryOptions,
  QueryResult,
} from '../../control/ports/index.ts';
import { type CollectionName, FILTER_PARAMETER } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { readField } from '../bson/field.ts';
import { formatEjson, textAllowance } from '../bson/parse/parse.ts';
import { batchesOf } from '../collections/batches.ts';
import { probesOf, questionsOf } from '../collections/probes.ts';
import type { Connection } from '../connection/connection.ts';
import { checkFilter, checkProjection, checkSort } from '../guard/guard.ts';
import { adviseFind } from './advice.ts';
import { type Settled, type Settlement, settleFilter } from './coercion/settle.ts';
import { isPlainObject, readFilter, readProjection, readSort, type Sort, switchOf } from './query-text.ts';
import { cutNote, exportQuery, isEmptyPage, type Page, readPage } from './results.ts';

const bounds = limits.documents;

interface Reading {
  filter: Document;
  /** Most documents; 0 for all. */
  limit: number;
  timeMs: number;
  signal: AbortSignal;
}

export class FindQuery implements DocumentsQuery {
  readonly sources: readonly CollectionName[];
  readonly #connection: Connection;
  readonly #request: FindRequest;
  readonly #name: CollectionName;
  readonly #filter: Document;
  readonly #projection: Document | null;
  readonly #sort: Sort | null;

  constructor(connection: Connection, request: FindRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#name = { database: request.database, collection: request.collection };
    this.sources = [this.#name];
    const allowance = textAllowance();
    this.#filter = readFilter(request.filter, allowance);
    this.#projection = readProjection(request.projection, allowance);
    this.#sort = readSort(request.sort, allowance);
    checkFilter(this.#filter, FILTER_PARAMETER);
    if (this.#projection) checkProjection(this.#projection, 'projection');
    if (this.#sort) checkSort(this.#sort, 'sort');
  }

  async run(options: QueryOptions & { maxBytes: number }): Promise<QueryResult> {
    const { maxBytes, signal } = options;
    const limit = this.#request.limit ?? bounds.limit.default;
    const settled = await settleFilter({
      ...this.#trial(options, bounds.queryTimeMs),
      run: async (filter, timeMs) =>
        await this.#connection.ask(
          async (client, ended) => {
            // One more than requested shows whether more follow.
            const reading = { filter, limit: limit + 1, timeMs, signal: ended };
            return await readPage(batchesOf(client, this.#open(client, reading), ended), limit, maxBytes);
          },
          { ...this.#asked, timeMs, signal },
        ),
      isEmpty: isEmptyPage,
    });
    const { documents, hasMore } = settled.result;
    const notes = await this.#notesOf(settled, options);
    const next = await this.#next(settled, signal);
    return { documents, hasMore, ...(next && { next }), notes };
  }

  async export(options: QueryOptions): Promise<ExportedQuery> {
    const { limit } = this.#request;
    const settled = await settleFilter({
      ...this.#trial(options, bounds.exportTimeMs),
      run: async (filter, timeMs) =>
        await exportQuery(this.#connection, {
          open: (client, signal, first) => this.#open(client, { filter, limit: first, timeMs, signal }),
          asked: { ...this.#asked, timeMs, signal: options.signal },
          limit,
        }),
      isEmpty: ({ isEmpty }) => isEmpty,
    });
    settled.result.notes.push(...(await this.#advice(settled, false, options)));
    return settled.result;
  }

  get #asked() {
    return { name: this.#name, parameter: FILTER_PARAMETER };
  }

  #trial({ signal }: QueryOptions, timeMs: number) {
    const { matches } = questionsOf(this.#connection, this.#asked, signal);
    // Without a skip an empty result already proves it.
    return { filter: this.#filter, matches: this.#request.skip > 0 ? matches : null, timeMs, signal };
  }

  async #advice(settlement: Settlement, empty: boolean, { schemaOf, signal }: QueryOptions) {
    return await adviseFind({
      filter: this.#filter,
      projection: this.#projection ?? undefined,
      sort: this.#sort ? [...this.#sort.keys()] : undefined,
      settlement,
      empty,
      schema: schemaOf(this.#name),
      probe: probesOf(this.#connection, this.#name, signal).matches,
      signal,
    });
  }

  async #notesOf(
    settled: Settled<Document, Page>,
    options: QueryOptions & { maxBytes: number },
  ): Promise<string[]> {
    const { result: page } = settled;
    const { documents, hasMore } = page;
    const { skip } = this.#request;
    const advice = await this.#advice(settled, isEmptyPage(page) && skip === 0, options);
    const cut = cutNote(page, options.maxBytes);
    const notes =
      cut === null ? [] : [documents.length > 0 ? cut : `${cut} skip ${skip + 1} passes over it.`];
    if (hasMore && !this.#sort) notes.push(unsortedNote);
    return [...advice, ...notes];
  }

  async #next({ result, used }: Settled<Document, Page>, signal: AbortSignal | undefined) {
    const { documents, hasMore, last } = result;
    // An empty page would continue only past the document that did not fit.
    if (!hasMore || documents.length === 0) return undefined;
    const end = {
      // The filter in use finds the rest as it is written, whichever form gave this page.
      filter: used,
      projection: this.#projection,
      sort: this.#sort,
      skipped: this.#request.skip,
      returned: documents.length,
      last,
    };
    return await nextPage(end, probesOf(this.#connection, this.#name, signal).lastId);
  }

  #open(client: MongoClient, { filter, limit, timeMs, signal }: Reading): AbstractCursor {
    const batch = bounds.batchDocuments + 1;
    return client
      .db(this.#name.database)
      .collection(this.#name.collection)
      .find(filter, {
        raw: true,
        signal,
        maxTimeMS: timeMs,
        skip: this.#request.skip,
        limit,
        batchSize: limit === 0 ? batch : Math.min(limit, batch),
        ...(this.#projection && { projection: this.#projection }),
        ...(this.#sort && { sort: this.#sort }),
      });
  }
}

const unsortedNote =
  'The order of these documents is not defined, so the next ones may repeat or miss some: ' +
  'sort by _id ({"field": "_id", "direction": 1}) to read on.';

// Finds the continuation of a find. Sorted by `_id` alone it is a filter, which costs the server nothing at any
// depth and neither repeats nor misses a document; otherwise a number of documents to skip.
//
// A query with a skip continues by skipping: a filter beside the same skip would miss documents.
//
// Servers compare only values of one kind with `$gt` and `$lt`, so a filter is used only when every remaining
// `_id` is of the last one's kind: the far end of the collection shows it.

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
