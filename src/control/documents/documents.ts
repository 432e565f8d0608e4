/**
 * What callers read of the document database: in the order of use, and with a way into a sandbox for what is too much
 * for an answer.
 */
import { Readable } from 'node:stream';
import type { CollectionName, CollectionSchema } from '../../model/document-schema.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';
import type { FileService } from '../files.ts';
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
import { Schemas } from './schemas.ts';

export interface DocumentServiceParts {
  /** null when the operator gave no connection string. */
  database: DocumentDatabase | null;
  files: Pick<FileService, 'write'>;
  order: OrderOfUse;
}

/** A file of a sandbox that takes a result as JSON lines. */
export interface SaveTarget {
  sandbox: string;
  path: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Told of what has been saved so far, now and then. */
  onSaved?: (documents: number, bytes: number) => void;
}

export interface SavedResult {
  count: number;
  bytes: number;
  /** The first few documents. */
  documents: string[];
  notes: string[];
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

  /** The file is replaced once all is there; whatever fails before leaves it as it was. */
  async #save(
    caller: Caller,
    query: DocumentsQuery,
    { sandbox, path }: SaveTarget,
    { signal, onSaved }: CallOptions,
  ): Promise<SavedResult> {
    const notes = this.#p.order.check(caller.keyId, query.sources, 'schema');
    const stopped = new AbortController();
    const either = signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal;
    const exported = await query.export(this.#options(either));
    const reported = told(exported.lines, () => onSaved?.(exported.count, exported.bytes));
    const content = Readable.from(reported, { objectMode: false });
    try {
      await this.#p.files.write(caller, sandbox, { path, content, createParents: true }, either);
    } catch (error) {
      // A sandbox that takes no more must not keep the query running; a query that broke is the reason to give.
      const reason = content.errored;
      stopped.abort(error);
      throw reason ?? error;
    } finally {
      content.destroy();
    }
    const { count, bytes, examples: documents } = exported;
    return { count, bytes, documents, notes: [...notes, ...exported.notes] };
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

async function* told(lines: AsyncIterable<Uint8Array>, tell: () => void): AsyncIterable<Uint8Array> {
  for await (const chunk of lines) {
    yield chunk;
    tell();
  }
}
