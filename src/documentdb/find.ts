/** A find: read and judged when it is made, sent when it runs. */
import type { AbstractCursor, Document, MongoClient } from 'mongodb';
import type {
  DocumentsQuery,
  ExportedQuery,
  FindRequest,
  QueryOptions,
  QueryResult,
} from '../control/ports.ts';
import type { CollectionName } from '../model/document-schema.ts';
import { limits } from '../model/limits.ts';
import { batchesOf } from './batches.ts';
import type { Connection } from './connection.ts';
import { exportQuery } from './export.ts';
import { checkFilter, checkProjection, checkSort } from './guard/guard.ts';
import { nextPage } from './next-page.ts';
import { cutNote, type Page, readPage } from './page.ts';
import { readFilter, readProjection, readSort, type Sort } from './query-text.ts';

const bounds = limits.documents;

interface Reading {
  filter: Document;
  /** Of documents; 0 for all. */
  limit: number;
  timeMs: number;
  signal: AbortSignal;
}

export class FindQuery implements DocumentsQuery {
  readonly sources: readonly CollectionName[];
  readonly #connection: Connection;
  readonly #request: FindRequest;
  readonly #filter: Document;
  readonly #projection: Document | null;
  readonly #sort: Sort | null;

  constructor(connection: Connection, request: FindRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#filter = readFilter(request.filter);
    this.#projection = readProjection(request.projection);
    this.#sort = readSort(request.sort);
    checkFilter(this.#filter, 'filter_dict');
    if (this.#projection) checkProjection(this.#projection, 'projection');
    if (this.#sort) checkSort(this.#sort, 'sort');
    this.sources = [this.#name];
  }

  get #name(): CollectionName {
    return { database: this.#request.database, collection: this.#request.collection };
  }

  async run({ maxBytes, signal }: QueryOptions & { maxBytes: number }): Promise<QueryResult> {
    const limit = this.#request.limit ?? bounds.limit.default;
    const timeMs = bounds.queryTimeMs;
    const page = await this.#connection.ask(
      async (client, ended) => {
        // One more than asked for, to know whether there is more.
        const cursor = this.#open(client, { filter: this.#filter, limit: limit + 1, timeMs, signal: ended });
        return await readPage(batchesOf(cursor), limit, maxBytes);
      },
      { name: this.#name, parameter: 'filter_dict', timeMs, signal },
    );
    return await this.#resultOf(page, maxBytes, signal);
  }

  async export({ signal }: QueryOptions): Promise<ExportedQuery> {
    const limit = this.#request.limit ?? 0;
    const timeMs = bounds.exportTimeMs;
    return await exportQuery(this.#connection, {
      open: (client, ended) => this.#open(client, { filter: this.#filter, limit, timeMs, signal: ended }),
      asked: { name: this.#name, parameter: 'filter_dict', timeMs, signal },
      limit: limit === 0 ? Number.POSITIVE_INFINITY : limit,
      notes: [],
    });
  }

  async #resultOf(page: Page, maxBytes: number, signal: AbortSignal | undefined): Promise<QueryResult> {
    const { documents, hasMore } = page;
    const notes: string[] = [];
    if (!hasMore) return { documents, hasMore, notes };
    const passed = this.#request.skip + documents.length;
    const cut = cutNote(page, maxBytes);
    if (cut) notes.push(documents.length > 0 ? cut : `${cut} skip ${passed + 1} passes over it.`);
    if (!this.#sort) notes.push(unsortedNote);
    // Nothing came: from here it goes on only past the document that did not fit.
    if (documents.length === 0) return { documents, hasMore, notes };
    const end = {
      filter: this.#filter,
      projection: this.#projection,
      sort: this.#sort,
      passed,
      last: page.last,
    };
    const next = await nextPage(end, (direction) => this.#farEnd(direction, signal));
    return { documents, hasMore, ...(next && { next }), notes };
  }

  #open(client: MongoClient, { filter, limit, timeMs, signal }: Reading): AbstractCursor {
    const batch = bounds.batchDocuments + 1;
    return this.#collection(client).find(filter, {
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

  /** The `_id` at that end of the collection, when an index tells. */
  async #farEnd(direction: 1 | -1, signal: AbortSignal | undefined): Promise<Uint8Array | null> {
    const timeMs = bounds.probeTimeMs;
    const probe = async (client: MongoClient, ended: AbortSignal) => {
      const cursor = this.#collection(client).find(
        {},
        {
          raw: true,
          signal: ended,
          maxTimeMS: timeMs,
          sort: { _id: -direction as 1 | -1 },
          limit: 1,
          projection: { _id: 1 },
        },
      );
      for await (const [document] of batchesOf(cursor)) return document ?? null;
      return null;
    };
    try {
      return await this.#connection.ask(probe, { name: this.#name, timeMs, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      return null;
    }
  }

  #collection(client: MongoClient) {
    return client.db(this.#request.database).collection(this.#request.collection);
  }
}

const unsortedNote =
  'The order of these documents is not defined, so the next ones may repeat or miss some: ' +
  'sort by _id ({"field": "_id", "direction": 1}) to read on.';
