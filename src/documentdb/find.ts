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
import { adviseAfter, notesOf, type PreparedFind, prepareFind } from './hints/advice.ts';
import { nextPage } from './next-page.ts';
import { cutNote, type Page, readPage } from './page.ts';
import { probesOf } from './probes.ts';
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
  readonly #name: CollectionName;
  readonly #filter: Document;
  readonly #projection: Document | null;
  readonly #sort: Sort | null;

  constructor(connection: Connection, request: FindRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#name = { database: request.database, collection: request.collection };
    this.sources = [this.#name];
    this.#filter = readFilter(request.filter);
    this.#projection = readProjection(request.projection);
    this.#sort = readSort(request.sort);
    checkFilter(this.#filter, 'filter_dict');
    if (this.#projection) checkProjection(this.#projection, 'projection');
    if (this.#sort) checkSort(this.#sort, 'sort');
  }

  async run(options: QueryOptions & { maxBytes: number }): Promise<QueryResult> {
    const { maxBytes, signal } = options;
    const limit = this.#request.limit ?? bounds.limit.default;
    const timeMs = bounds.queryTimeMs;
    const prepared = this.#prepare(options);
    const page = await this.#connection.ask(
      async (client, ended) => {
        // One more than asked for, to know whether there is more.
        const reading = { filter: prepared.filter, limit: limit + 1, timeMs, signal: ended };
        return await readPage(batchesOf(client, this.#open(client, reading), ended), limit, maxBytes);
      },
      { name: this.#name, parameter: 'filter_dict', timeMs, signal },
    );
    const notes = await this.#notesOf(prepared, page, options);
    const next = await this.#next(page, signal);
    return { documents: page.documents, hasMore: page.hasMore, ...(next && { next }), notes };
  }

  async export(options: QueryOptions): Promise<ExportedQuery> {
    const limit = this.#request.limit ?? 0;
    const timeMs = bounds.exportTimeMs;
    const prepared = this.#prepare(options);
    return await exportQuery(this.#connection, {
      open: (client, signal) => this.#open(client, { filter: prepared.filter, limit, timeMs, signal }),
      asked: { name: this.#name, parameter: 'filter_dict', timeMs, signal: options.signal },
      limit: limit === 0 ? Number.POSITIVE_INFINITY : limit,
      notes: notesOf(prepared.advice),
    });
  }

  #prepare({ schemaOf }: QueryOptions): PreparedFind {
    return prepareFind({
      filter: this.#filter,
      projection: this.#projection ?? undefined,
      sort: this.#sort ? [...this.#sort.keys()] : undefined,
      schema: schemaOf(this.#name),
    });
  }

  async #notesOf(
    prepared: PreparedFind,
    page: Page,
    { schemaOf, signal, maxBytes }: QueryOptions & { maxBytes: number },
  ): Promise<string[]> {
    const { documents, hasMore } = page;
    const { skip } = this.#request;
    const { matches: probe } = probesOf(this.#connection, this.#name, signal);
    const empty = documents.length === 0 && !hasMore && skip === 0;
    const advice = await adviseAfter({ prepared, empty, schema: schemaOf(this.#name), probe, signal });
    const cut = cutNote(page, maxBytes);
    const notes =
      cut === null ? [] : [documents.length > 0 ? cut : `${cut} skip ${skip + 1} passes over it.`];
    if (hasMore && !this.#sort) notes.push(unsortedNote);
    return [...advice, ...notes];
  }

  async #next({ documents, hasMore, last }: Page, signal: AbortSignal | undefined) {
    // Where nothing came it goes on only past the document that did not fit.
    if (!hasMore || documents.length === 0) return undefined;
    const end = {
      filter: this.#filter,
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
