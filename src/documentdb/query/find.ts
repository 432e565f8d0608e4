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
import { textAllowance } from '../bson/parse/parse.ts';
import { batchesOf } from '../collections/batches.ts';
import { probesOf, questionsOf } from '../collections/probes.ts';
import type { Connection } from '../connection/connection.ts';
import { checkFilter, checkProjection, checkSort } from '../guard/guard.ts';
import { adviseFind } from './advice.ts';
import { type Settled, type Settlement, settleFilter } from './coercion/settle.ts';
import { nextPage } from './next-page.ts';
import { readFilter, readProjection, readSort, type Sort } from './query-text.ts';
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
