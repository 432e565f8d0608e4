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
import { adviseAfter, notesOf, prepareAggregate } from './hints/advice.ts';
import { cutNote, type Page, readPage } from './page.ts';
import { probesOf } from './probes.ts';
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
  readonly #name: CollectionName;
  readonly #stages: Document[];

  constructor(connection: Connection, request: AggregateRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#name = { database: request.database, collection: request.collection };
    this.#stages = readPipeline(request.pipeline);
    this.sources = checkPipeline(this.#stages, 'pipeline', this.#name).sources;
  }

  async run(options: QueryOptions & { maxBytes: number }): Promise<QueryResult> {
    const { maxBytes, signal, schemaOf } = options;
    const schema = schemaOf(this.#name);
    const prepared = prepareAggregate(this.#stages, schema);
    const limit = this.#request.limit ?? bounds.limit.default;
    const timeMs = bounds.queryTimeMs;
    // One more than asked for, to know whether there is more.
    const stages = [...prepared.stages, { $limit: limit + 1 }];
    const page = await this.#connection.ask(
      async (client, ended) => {
        const cursor = this.#open(client, { stages, timeMs, signal: ended });
        return await readPage(batchesOf(client, cursor, ended), limit, maxBytes);
      },
      { name: this.#name, parameter: 'pipeline', timeMs, signal },
    );
    const { documents, hasMore } = page;
    const empty = documents.length === 0 && !hasMore;
    const probe = probesOf(this.#connection, this.#name, signal).matches;
    const advice = await adviseAfter({ prepared, empty, schema, probe, signal });
    return { documents, hasMore, notes: [...advice, ...pageNotes(page, maxBytes)] };
  }

  async export({ schemaOf, signal }: QueryOptions): Promise<ExportedQuery> {
    const prepared = prepareAggregate(this.#stages, schemaOf(this.#name));
    const { limit } = this.#request;
    const timeMs = bounds.exportTimeMs;
    const stages = [...prepared.stages, ...(limit === undefined ? [] : [{ $limit: limit }])];
    return await exportQuery(this.#connection, {
      open: (client, ended) => this.#open(client, { stages, timeMs, signal: ended }),
      asked: { name: this.#name, parameter: 'pipeline', timeMs, signal },
      limit: limit ?? Number.POSITIVE_INFINITY,
      notes: notesOf(prepared.advice),
    });
  }

  #open(client: MongoClient, { stages, timeMs, signal }: Reading): AbstractCursor {
    const { database, collection } = this.#name;
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

function pageNotes(page: Page, maxBytes: number): string[] {
  if (!page.hasMore) return [];
  const cut = cutNote(page, maxBytes);
  const skip = page.documents.length === 0 ? 1 : page.documents.length;
  const goOn = `There is more: to read on, end the pipeline with a $sort by a unique field and {"$skip": ${skip}}.`;
  return cut ? [cut, goOn] : [goOn];
}
