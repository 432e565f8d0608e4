/** The window on a document database: it reads, and nothing that it is asked can write. */
import type {
  CollectionName,
  CollectionSchema,
  CollectionType,
  IndexInfo,
} from '../../model/documents/schema.ts';

export interface DatabaseInfo {
  name: string;
  sizeOnDisk: number;
  empty: boolean;
}

export interface CollectionInfo {
  name: string;
  type: CollectionType;
  /** As the server estimates it; null where it does not tell: of a view, whose documents nobody has counted. */
  documentCount: number | null;
  indexes: IndexInfo[];
}

/** Texts are JSON as the caller wrote it; Extended JSON is understood. */
export interface FindRequest extends CollectionName {
  filter?: string;
  projection?: string;
  /** Each `{"field": …, "direction": 1 or -1}`. */
  sort?: readonly string[];
  /** Absent only where the result goes into a sandbox: all. */
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
  /** What is known of a collection: what is wrong with a query is explained by it. It changes no result. */
  schemaOf(name: CollectionName): CollectionSchema | null;
  signal?: AbortSignal;
}

export interface QueryResult {
  /** Relaxed Extended JSON, each. */
  documents: string[];
  hasMore: boolean;
  /**
   * Where it goes on, when there is more: another `filter_dict` where it was sorted by `_id` alone and nothing was
   * skipped (the next call skips nothing either), otherwise `skip`. Absent for pipelines, whose notes say it, and where
   * the very next document is larger than a result.
   */
  next?: { filter: string } | { skip: number };
  notes: string[];
}

/**
 * A result that is too large to be held: JSON lines, one document each. It holds a cursor of the server until `lines` is
 * read to its end or left, or the signal is aborted; `lines` can be read once.
 */
export interface ExportedQuery {
  lines: AsyncIterable<Uint8Array>;
  /** What has gone through `lines` so far. */
  readonly count: number;
  readonly bytes: number;
  /** The names of the fields that the first documents have; a few. */
  readonly fields: string[];
  /** More match than the limit let through; known at the end. */
  readonly hasMore: boolean;
  readonly notes: string[];
}

/** A query that was read and found harmless; nothing was sent yet. */
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
 * Every method fails with `unavailable` when the server cannot be reached, `permission_denied` when it refuses the
 * credentials, `timeout` when it took too long, `not_found` (resource `database` or `collection`, naming the nearest)
 * and `invalid_argument` for what the server does not take. A canceled call fails with its signal's own reason. `find`, `count` and `aggregate` fail with
 * `invalid_argument`, naming the parameter and the place, before anything is sent.
 */
export interface DocumentDatabase {
  /** By name; at most `limits.documents.databases`, so exactly as many may not be all. */
  databases(signal?: AbortSignal): Promise<DatabaseInfo[]>;
  /** By name; at most `limits.documents.collections`, so exactly as many may not be all. */
  collections(database: string, signal?: AbortSignal): Promise<CollectionInfo[]>;
  schema(name: CollectionName, sampleSize: number, signal?: AbortSignal): Promise<CollectionSchema>;
  find(request: FindRequest): DocumentsQuery;
  count(request: CountRequest): CountQuery;
  aggregate(request: AggregateRequest): DocumentsQuery;
  /** Whether the credentials could write: what a doctor warns of. null when the server does not tell. */
  couldWrite(signal?: AbortSignal): Promise<boolean | null>;
  close(): Promise<void>;
}
