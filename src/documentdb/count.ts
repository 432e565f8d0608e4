/** A count: exact, so it is the server's work to look at all that matches. */
import type { Document } from 'mongodb';
import type { CountQuery as Count, CountRequest, QueryOptions } from '../control/ports.ts';
import type { CollectionName } from '../model/document-schema.ts';
import { limits } from '../model/limits.ts';
import type { Connection } from './connection.ts';
import { checkFilter } from './guard/guard.ts';
import { adviseAfter, prepareFind } from './hints/advice.ts';
import { probesOf } from './probes.ts';
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
    checkFilter(this.#filter, 'filter_dict');
    this.sources = [this.#name];
  }

  async run({ schemaOf, signal }: QueryOptions): Promise<{ count: number; notes: string[] }> {
    const schema = schemaOf(this.#name);
    const prepared = prepareFind({ filter: this.#filter, schema });
    const timeMs = limits.documents.queryTimeMs;
    const { database, collection } = this.#name;
    const count = await this.#connection.ask(
      async (client, ended) => {
        const options = { signal: ended, maxTimeMS: timeMs };
        return await client.db(database).collection(collection).countDocuments(prepared.filter, options);
      },
      { name: this.#name, parameter: 'filter_dict', timeMs, signal },
    );
    const probe = probesOf(this.#connection, this.#name, signal).matches;
    const notes = await adviseAfter({ prepared, empty: count === 0, schema, probe, signal });
    return { count: Number(count), notes };
  }
}
