/** Represents a pipeline: parsed and checked on creation, sent when it runs. */
import type { AbstractCursor, Document, MongoClient } from 'mongodb';
import type {
  AggregateRequest,
  DocumentsQuery,
  ExportedQuery,
  QueryOptions,
  QueryResult,
} from '../../control/ports/index.ts';
import type { CollectionName } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { batchesOf } from '../collections/batches.ts';
import { probesOf, questionsOf } from '../collections/probes.ts';
import type { Connection } from '../connection/connection.ts';
import { checkPipeline } from '../guard/guard.ts';
import { advisePipeline } from './advice.ts';
import { type Settled, settlePipeline } from './coercion/settle.ts';
import { readPipeline } from './query-text.ts';
import { cutNote, exportQuery, isEmptyPage, type Page, readPage } from './results.ts';

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
    const { maxBytes, signal } = options;
    const limit = this.#request.limit ?? bounds.limit.default;
    const settled = await settlePipeline({
      ...this.#trial(options, bounds.queryTimeMs),
      run: async (own, timeMs) => {
        // One more than requested shows whether more follow.
        const stages = [...own, { $limit: limit + 1 }];
        return await this.#connection.ask(
          async (client, ended) => {
            const cursor = this.#open(client, { stages, timeMs, signal: ended });
            return await readPage(batchesOf(client, cursor, ended), limit, maxBytes);
          },
          { ...this.#asked, timeMs, signal },
        );
      },
      isEmpty: isEmptyPage,
    });
    const page = settled.result;
    const { documents, hasMore } = page;
    const advice = await this.#advice(settled, isEmptyPage(page), options);
    return { documents, hasMore, notes: [...advice, ...pageNotes(page, maxBytes)] };
  }

  async export(options: QueryOptions): Promise<ExportedQuery> {
    const { signal } = options;
    const { limit } = this.#request;
    const settled = await settlePipeline({
      ...this.#trial(options, bounds.exportTimeMs),
      run: async (own, timeMs) =>
        await exportQuery(this.#connection, {
          open: (client, ended, first) => {
            const stages = [...own, ...(first === 0 ? [] : [{ $limit: first }])];
            return this.#open(client, { stages, timeMs, signal: ended });
          },
          asked: { ...this.#asked, timeMs, signal },
          limit,
        }),
      isEmpty: ({ isEmpty }) => isEmpty,
    });
    settled.result.notes.push(...(await this.#advice(settled, false, options)));
    return settled.result;
  }

  get #asked() {
    return { name: this.#name, parameter: 'pipeline' };
  }

  #trial({ signal }: QueryOptions, timeMs: number) {
    const { finds } = questionsOf(this.#connection, this.#asked, signal);
    return { stages: this.#stages, finds, timeMs, signal };
  }

  async #advice(settled: Settled<readonly Document[], unknown>, empty: boolean, options: QueryOptions) {
    const { schemaOf, signal } = options;
    return await advisePipeline({
      stages: this.#stages,
      used: settled.used,
      settlement: settled,
      empty,
      schema: schemaOf(this.#name),
      probe: probesOf(this.#connection, this.#name, signal).matches,
      signal,
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
