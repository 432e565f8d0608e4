/** Counts exactly, so the server has to visit every match. */
import type { Document } from 'mongodb';
import type { CountQuery as Count, CountRequest, QueryOptions } from '../../control/ports/index.ts';
import { type CollectionName, FILTER_PARAMETER } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { probesOf } from '../collections/probes.ts';
import type { Connection } from '../connection/connection.ts';
import { checkFilter } from '../guard/guard.ts';
import { adviseFind } from './advice.ts';
import { settleFilter } from './coercion/settle.ts';
import { readFilter } from './query-text.ts';

export class CountQuery implements Count {
  readonly sources: readonly CollectionName[];
  readonly #connection: Connection;
  readonly #name: CollectionName;
  readonly #filter: Document;

  constructor(connection: Connection, { database, collection, filter }: CountRequest) {
    this.#connection = connection;
    this.#name = { database, collection };
    this.#filter = readFilter(filter);
    checkFilter(this.#filter, FILTER_PARAMETER);
    this.sources = [this.#name];
  }

  async run({ schemaOf, signal }: QueryOptions): Promise<{ count: number; notes: string[] }> {
    const { database, collection } = this.#name;
    const settled = await settleFilter({
      filter: this.#filter,
      run: async (filter, timeMs) =>
        await this.#connection.ask(
          async (client, ended) => {
            const options = { signal: ended, maxTimeMS: timeMs };
            return Number(await client.db(database).collection(collection).countDocuments(filter, options));
          },
          { name: this.#name, parameter: FILTER_PARAMETER, timeMs, signal },
        ),
      isEmpty: (count) => count === 0,
      matches: null,
      timeMs: limits.documents.queryTimeMs,
      signal,
    });
    const count = settled.result;
    const notes = await adviseFind({
      filter: this.#filter,
      settlement: settled,
      empty: count === 0,
      schema: schemaOf(this.#name),
      probe: probesOf(this.#connection, this.#name, signal).matches,
      signal,
    });
    return { count, notes };
  }
}
