/** Port to a document database: it only reads, and no query of it can write. */
import type {
  CollectionName,
  CollectionSchema,
  CollectionType,
  IndexInfo,
} from '../../model/document-schema.ts';

export interface DatabaseInfo {
  name: string;
  sizeOnDisk: number;
  empty: boolean;
}

export interface CollectionInfo {
  name: string;
  type: CollectionType;
  /** The server's estimate; null where it gives none, as for a view, whose documents are uncounted. */
  documentCount: number | null;
  indexes: IndexInfo[];
}

/** Texts are JSON as the caller wrote it; Extended JSON is understood. */
export interface FindRequest extends CollectionName {
  filter?: string;
  projection?: string;
  /** Each `{"field": …, "direction": 1 or -1}`. */
  sort?: readonly string[];
  /** Absent only for a result that goes into a sandbox: all documents. */
  limit?: number;
  skip: number;
}

export interface CountRequest extends CollectionName {
  filter?: string;
}

export interface AggregateRequest extends CollectionName {
  pipeline: readonly string[];
  limit?: number;
}

export interface QueryOptions {
  /** Returns the known schema of a collection, which explains a query's mistakes. It changes no result. */
  schemaOf(name: CollectionName): CollectionSchema | null;
  signal?: AbortSignal;
}

export interface QueryResult {
  /** Each is relaxed Extended JSON. */
  documents: string[];
  hasMore: boolean;
  /**
   * Continuation, when there is more: another `filter_dict` for a sort by `_id` alone without a skip (the next call
   * skips nothing either), otherwise `skip`. Absent for pipelines, whose notes explain it, and where the very next
   * document is larger than a result.
   */
  next?: { filter: string } | { skip: number };
  notes: string[];
}

/**
 * A result that is too large to be held: JSON lines, one document each. It holds a cursor of the server until `lines`
 * is read to its end or left, or the signal is aborted; `lines` can be read once.
 */
export interface ExportedQuery {
  lines: AsyncIterable<Uint8Array>;
  /** Documents and bytes read from `lines` so far. */
  readonly count: number;
  readonly bytes: number;
  /** Names of the fields of the first documents; a few. */
  readonly fields: string[];
  /** true: more documents match than the limit lets through; known at the end. */
  readonly hasMore: boolean;
  readonly notes: string[];
}

/** A parsed query that was found harmless and is not sent yet. */
export interface Query {
  /** Every collection that it reads, its own first, each once. */
  readonly sources: readonly CollectionName[];
}

export interface DocumentsQuery extends Query {
  run(options: QueryOptions & { maxBytes: number }): Promise<QueryResult>;
  export(options: QueryOptions): Promise<ExportedQuery>;
}

export interface CountQuery extends Query {
  run(options: QueryOptions): Promise<{ count: number; notes: string[] }>;
}

/**
 * Every method rejects with `unavailable` when the server is unreachable, `permission_denied` when it rejects the
 * credentials, `timeout` when it took too long, `not_found` (resource `database` or `collection`, naming the nearest),
 * and `invalid_argument` for a query that the server rejects. A cancelled call rejects with its signal's own reason.
 * `find`, `count` and `aggregate` throw `invalid_argument`, naming the parameter and the place, before anything is
 * sent.
 */
export interface DocumentDatabase {
  /** Lists by name; at most `limits.documents.databases`, so exactly as many may not be all. */
  databases(signal?: AbortSignal): Promise<DatabaseInfo[]>;
  /** Lists by name; at most `limits.documents.collections`, so exactly as many may not be all. */
  collections(database: string, signal?: AbortSignal): Promise<CollectionInfo[]>;
  schema(name: CollectionName, sampleSize: number, signal?: AbortSignal): Promise<CollectionSchema>;
  find(request: FindRequest): DocumentsQuery;
  count(request: CountRequest): CountQuery;
  aggregate(request: AggregateRequest): DocumentsQuery;
  /** Returns true when the credentials permit writes, for a warning of `doctor`. null when the server does not say. */
  couldWrite(signal?: AbortSignal): Promise<boolean | null>;
  close(): Promise<void>;
}
