/** A pipeline: read and judged when it is made, sent when it runs. */
import type { AbstractCursor, Document, MongoClient } from 'mongodb';
import type {
  AggregateRequest,
  DocumentsQuery,
  ExportedQuery,
  QueryOptions,
  QueryResult,
} from '../control/ports.ts';
import type { CollectionName } from '../model/document-schema.ts';
import { limits } from '../model/limits.ts';
import { batchesOf } from './batches.ts';
import type { Connection } from './connection.ts';
import { exportQuery } from './export.ts';
import { checkPipeline } from './guard/guard.ts';
import { cutNote, type Page, readPage } from './page.ts';
import { readPipeline } from './query-text.ts';

const bounds = limits.documents;

interface Reading {
  stages: Document[];
  timeMs: number;
  signal: AbortSignal;
}

export class AggregateQuery implements DocumentsQuery {
  readonly sources: readonly CollectionName[];
  readonly #connection: Connection;
  readonly #request: AggregateRequest;
  readonly #stages: Document[];

  constructor(connection: Connection, request: AggregateRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#stages = readPipeline(request.pipeline);
    this.sources = checkPipeline(this.#stages, 'pipeline', this.#name).sources;
  }

  get #name(): CollectionName {
    return { database: this.#request.database, collection: this.#request.collection };
  }

  async run({ maxBytes, signal }: QueryOptions & { maxBytes: number }): Promise<QueryResult> {
    const limit = this.#request.limit ?? bounds.limit.default;
    const timeMs = bounds.queryTimeMs;
    // One more than asked for, to know whether there is more.
    const stages = [...this.#stages, { $limit: limit + 1 }];
    const page = await this.#connection.ask(
      async (client, ended) => {
        const cursor = this.#open(client, { stages, timeMs, signal: ended });
        return await readPage(batchesOf(cursor), limit, maxBytes);
      },
      { name: this.#name, parameter: 'pipeline', timeMs, signal },
    );
    return { documents: page.documents, hasMore: page.hasMore, notes: notesOf(page, maxBytes) };
  }

  async export({ signal }: QueryOptions): Promise<ExportedQuery> {
    const { limit } = this.#request;
    const timeMs = bounds.exportTimeMs;
    const stages = limit === undefined ? this.#stages : [...this.#stages, { $limit: limit }];
    return await exportQuery(this.#connection, {
      open: (client, ended) => this.#open(client, { stages, timeMs, signal: ended }),
      asked: { name: this.#name, parameter: 'pipeline', timeMs, signal },
      limit: limit ?? Number.POSITIVE_INFINITY,
      notes: [],
    });
  }

  #open(client: MongoClient, { stages, timeMs, signal }: Reading): AbstractCursor {
    const { database, collection } = this.#request;
    return client
      .db(database)
      .collection(collection)
      .aggregate(stages, {
        raw: true,
        signal,
        maxTimeMS: timeMs,
        batchSize: bounds.batchDocuments + 1,
      });
  }
}

function notesOf(page: Page, maxBytes: number): string[] {
  if (!page.hasMore) return [];
  const cut = cutNote(page, maxBytes);
  const skip = page.documents.length === 0 ? 1 : page.documents.length;
  const goOn = `There is more: to read on, end the pipeline with a $sort by a unique field and {"$skip": ${skip}}.`;
  return cut ? [cut, goOn] : [goOn];
}
