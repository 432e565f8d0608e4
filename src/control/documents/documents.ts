/**
 * What callers read of the document database: in the order of use, and with a way into a sandbox for what is too much
 * for an answer.
 */
import type { CollectionName, CollectionSchema } from '../../model/document-schema.ts';
import { SandhavenError } from '../../model/errors.ts';
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
} from '../ports.ts';
import type { OrderOfUse } from './order-of-use.ts';
import { type SandboxFiles, type SavedResult, type SaveTarget, saveResult } from './save.ts';
import { Schemas } from './schemas.ts';

export interface DocumentServiceParts {
  /** null when the operator gave no connection string. */
  database: DocumentDatabase | null;
  files: SandboxFiles;
  order: OrderOfUse;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Told of what has been saved so far, now and then. */
  onSaved?: (documents: number, bytes: number) => void;
}

export class DocumentService {
  readonly #p: DocumentServiceParts;
  readonly #schemas = new Schemas();

  constructor(parts: DocumentServiceParts) {
    this.#p = parts;
  }

  async databases(options: CallOptions): Promise<DatabaseInfo[]> {
    return this.#database().databases(options.signal);
  }

  async collections({ keyId }: Caller, database: string, { signal }: CallOptions): Promise<CollectionInfo[]> {
    const collections = await this.#database().collections(database, signal);
    this.#p.order.discovered(
      keyId,
      database,
      collections.map(({ name }) => name),
    );
    return collections;
  }

  async schema(
    { keyId }: Caller,
    name: CollectionName,
    sampleSize: number,
    { signal }: CallOptions,
  ): Promise<CollectionSchema> {
    const database = this.#database();
    const notes = this.#p.order.check(keyId, [name], 'discovered');
    const schema = await database.schema(name, sampleSize, signal);
    this.#schemas.keep(schema);
    this.#p.order.loaded(keyId, name);
    return { ...schema, notes: [...notes, ...schema.notes] };
  }

  async count(
    { keyId }: Caller,
    request: CountRequest,
    { signal }: CallOptions,
  ): Promise<{ count: number; notes: string[] }> {
    const query = this.#database().count(request);
    const notes = this.#p.order.check(keyId, query.sources, 'schema');
    const { count, notes: found } = await query.run(this.#options(signal));
    return { count, notes: [...notes, ...found] };
  }

  find(caller: Caller, request: FindRequest, maxBytes: number, options: CallOptions): Promise<QueryResult> {
    return this.#run(caller, this.#database().find(request), maxBytes, options);
  }

  aggregate(
    caller: Caller,
    request: AggregateRequest,
    maxBytes: number,
    options: CallOptions,
  ): Promise<QueryResult> {
    return this.#run(caller, this.#database().aggregate(request), maxBytes, options);
  }

  saveFind(
    caller: Caller,
    request: FindRequest,
    target: SaveTarget,
    options: CallOptions,
  ): Promise<SavedResult> {
    return this.#save(caller, this.#database().find(request), target, options);
  }

  saveAggregate(
    caller: Caller,
    request: AggregateRequest,
    target: SaveTarget,
    options: CallOptions,
  ): Promise<SavedResult> {
    return this.#save(caller, this.#database().aggregate(request), target, options);
  }

  async close(): Promise<void> {
    await this.#p.database?.close();
  }

  async #run(
    { keyId }: Caller,
    query: DocumentsQuery,
    maxBytes: number,
    { signal }: CallOptions,
  ): Promise<QueryResult> {
    const notes = this.#p.order.check(keyId, query.sources, 'schema');
    const result = await query.run({ ...this.#options(signal), maxBytes });
    return { ...result, notes: [...notes, ...result.notes] };
  }

  async #save(
    caller: Caller,
    query: DocumentsQuery,
    target: SaveTarget,
    { signal, onSaved }: CallOptions,
  ): Promise<SavedResult> {
    const notes = this.#p.order.check(caller.keyId, query.sources, 'schema');
    const options = { ...this.#options(signal), onSaved };
    const saved = await saveResult(this.#p.files, caller, query, target, options);
    return { ...saved, notes: [...notes, ...saved.notes] };
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
