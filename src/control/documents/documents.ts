/**
 * Queries of the document database for callers: checked against the order of use, with large results saved into a
 * sandbox.
 */
import { inSpan } from '../../concurrency/span.ts';
import { currentHold } from '../../fairness/answer-room.ts';
import { FairQueue, LongWork } from '../../fairness/fair-queue.ts';
import type { CollectionName, CollectionSchema } from '../../model/document-schema.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { assertScope } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';
import type {
  AggregateRequest,
  CollectionInfo,
  CountRequest,
  DatabaseInfo,
  DocumentDatabase,
  DocumentsQuery,
  FindRequest,
  QueryResult,
} from '../ports/index.ts';
import type { OrderOfUse } from './order-of-use.ts';
import { type SandboxFiles, type SavedResult, type SaveTarget, saveResult } from './save.ts';

interface DocumentServiceDependencies {
  /** null without a connection string from the operator. */
  database: DocumentDatabase | null;
  files: SandboxFiles;
  order: OrderOfUse;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Receives the progress of a save from time to time. */
  onSaved?: (documents: number, bytes: number) => void;
}

export class DocumentService {
  readonly #p: DocumentServiceDependencies;
  readonly #schemas = new Schemas();
  readonly #queries = new FairQueue({ ...limits.shares.queries, what: 'queries are in progress' });
  readonly #reading = new LongWork('long queries are being read');

  constructor(parts: DocumentServiceDependencies) {
    this.#p = parts;
  }

  async databases(caller: Caller, { signal }: CallOptions): Promise<DatabaseInfo[]> {
    return this.#inTurn(caller, 'databases', signal, () => this.#database().databases(signal));
  }

  async collections(caller: Caller, database: string, { signal }: CallOptions): Promise<CollectionInfo[]> {
    const collections = await this.#inTurn(caller, 'collections', signal, () =>
      this.#database().collections(database, signal),
    );
    this.#p.order.discovered(
      caller.keyId,
      database,
      collections.map(({ name }) => name),
    );
    return collections;
  }

  async schema(
    caller: Caller,
    name: CollectionName,
    sampleSize: number,
    { signal }: CallOptions,
  ): Promise<CollectionSchema> {
    const database = this.#database();
    const { keyId } = caller;
    const notes = await this.#p.order.check(keyId, [name], 'discovered');
    const schema = await this.#inTurn(caller, 'schema', signal, () =>
      database.schema(name, sampleSize, signal),
    );
    this.#schemas.keep(schema);
    this.#p.order.loaded(keyId, name);
    return { ...schema, notes: [...notes, ...schema.notes] };
  }

  async count(
    caller: Caller,
    request: CountRequest,
    { signal }: CallOptions,
  ): Promise<{ count: number; notes: string[] }> {
    const query = await this.#read(caller, request, (database) => database.count(request), signal);
    const notes = await this.#p.order.check(caller.keyId, query.sources, 'schema');
    const { count, notes: found } = await this.#inTurn(caller, 'count', signal, () =>
      query.run(this.#options(signal)),
    );
    return { count, notes: [...notes, ...found] };
  }

  async find(
    caller: Caller,
    request: FindRequest,
    maxBytes: number,
    options: CallOptions,
  ): Promise<QueryResult> {
    return this.#run(caller, await this.#find(caller, request, options), maxBytes, options);
  }

  async aggregate(
    caller: Caller,
    request: AggregateRequest,
    maxBytes: number,
    options: CallOptions,
  ): Promise<QueryResult> {
    return this.#run(caller, await this.#aggregate(caller, request, options), maxBytes, options);
  }

  async saveFind(
    caller: Caller,
    request: FindRequest,
    target: SaveTarget,
    options: CallOptions,
  ): Promise<SavedResult> {
    return this.#save(caller, await this.#find(caller, request, options), target, options);
  }

  async saveAggregate(
    caller: Caller,
    request: AggregateRequest,
    target: SaveTarget,
    options: CallOptions,
  ): Promise<SavedResult> {
    return this.#save(caller, await this.#aggregate(caller, request, options), target, options);
  }

  async close(): Promise<void> {
    await this.#p.database?.close();
  }

  #find(caller: Caller, request: FindRequest, { signal }: CallOptions): Promise<DocumentsQuery> {
    return this.#read(caller, request, (database) => database.find(request), signal);
  }

  #aggregate(caller: Caller, request: AggregateRequest, { signal }: CallOptions): Promise<DocumentsQuery> {
    return this.#read(caller, request, (database) => database.aggregate(request), signal);
  }

  /** Parses a query. A long one holds the thread while it is parsed and checked, so it waits for its turn. */
  async #read<Query>(
    { id }: Caller,
    request: FindRequest | CountRequest | AggregateRequest,
    read: (database: DocumentDatabase) => Query,
    signal: AbortSignal | undefined,
  ): Promise<Query> {
    const database = this.#database();
    const isLong = charsOf(request) > limits.documents.shortQueryChars;
    return isLong ? this.#reading.run(id, () => read(database), signal) : read(database);
  }

  async #run(
    caller: Caller,
    query: DocumentsQuery,
    maxBytes: number,
    { signal }: CallOptions,
  ): Promise<QueryResult> {
    const notes = await this.#p.order.check(caller.keyId, query.sources, 'schema');
    const result = await this.#inTurn(caller, 'query', signal, async () => {
      const found = await query.run({ ...this.#options(signal), maxBytes });
      const bytes = found.documents.reduce((sum, text) => sum + text.length, 0);
      await currentHold()?.take(bytes, signal);
      return found;
    });
    return { ...result, notes: [...notes, ...result.notes] };
  }

  async #save(
    caller: Caller,
    query: DocumentsQuery,
    target: SaveTarget,
    { signal, onSaved }: CallOptions,
  ): Promise<SavedResult> {
    assertScope(caller, 'sandboxes:write');
    const notes = await this.#p.order.check(caller.keyId, query.sources, 'schema');
    const options = { ...this.#options(signal), onSaved };
    const saved = await this.#inTurn(caller, 'save', signal, () =>
      saveResult(this.#p.files, caller, query, target, options),
    );
    return { ...saved, notes: [...notes, ...saved.notes] };
  }

  /** Runs `work` in the user's share of the connections; only the user's own queries delay it. */
  async #inTurn<T>(
    { id }: Caller,
    operation: string,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const done = await this.#queries.take(id, 1, signal);
    try {
      const attributes = { 'db.system.name': 'mongodb', 'db.operation.name': operation } as const;
      return await inSpan(`documents ${operation}`, attributes, work);
    } finally {
      done();
    }
  }

  #options(signal: AbortSignal | undefined) {
    return {
      schemaOf: (name: CollectionName) => this.#schemas.of(name),
      ...(signal ? { signal } : {}),
    };
  }

  #database(): DocumentDatabase {
    const { database } = this.#p;
    if (database) return database;
    throw new SandhavenError('unavailable', 'This service is connected to no document database.', {
      hint:
        'The operator sets DOCUMENTDB_CONNECTION_STRING for the service and starts it again; `sandhaven demo-db` ' +
        'runs a database to try this with and prints the connection string.',
      retryable: false,
    });
  }
}

/** Returns the length of all texts of the request. */
function charsOf(request: Partial<FindRequest & AggregateRequest>): number {
  const { filter = '', projection = '', sort = [], pipeline = [] } = request;
  return [filter, projection, ...sort, ...pipeline].reduce((sum, text) => sum + text.length, 0);
}

/** Cache of the schemas loaded last, by collection; later queries are interpreted and explained with them. */
export class Schemas {
  /** In order of last use. */
  readonly #kept = new Map<string, CollectionSchema>();

  keep(schema: CollectionSchema): void {
    const key = keyOf(schema.name);
    this.#kept.delete(key);
    this.#kept.set(key, schema);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= limits.documents.schemas) break;
      this.#kept.delete(oldest);
    }
  }

  of(name: CollectionName): CollectionSchema | null {
    const key = keyOf(name);
    const schema = this.#kept.get(key);
    if (!schema) return null;
    this.#kept.delete(key);
    this.#kept.set(key, schema);
    return schema;
  }
}

function keyOf({ database, collection }: CollectionName): string {
  return JSON.stringify([database, collection]);
}
