/** Parses the server's catalogue entry of a collection, as untrusted input. */
import type { MongoClient } from 'mongodb';
import { z } from 'zod';
import type {
  CollectionName,
  CollectionSchema,
  CollectionType,
  IndexInfo,
} from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { formatEjson } from '../bson/parse/parse.ts';

const bounds = limits.documents;

export interface ListedCollection
  extends Pick<CollectionSchema, 'viewOn' | 'validator' | 'timeseries' | 'capped'> {
  name: string;
  type: CollectionType;
}

const listed = z.object({
  name: z.string().min(1),
  type: z.string().optional(),
  options: z
    .object({
      viewOn: z.string().optional(),
      capped: z.boolean().optional(),
      validator: z.record(z.string(), z.unknown()).optional(),
      timeseries: z
        .object({
          timeField: z.string(),
          metaField: z.string().optional(),
          granularity: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
});

/** Returns null for anything but a collection of the user's. */
export function readCollection(entry: unknown): ListedCollection | null {
  const parsed = listed.safeParse(entry);
  if (!parsed.success || parsed.data.name.startsWith('system.')) return null;
  const { name, type, options = {} } = parsed.data;
  const collection: ListedCollection = {
    name,
    type: type === 'view' || type === 'timeseries' ? type : 'collection',
  };
  const { viewOn, capped, validator, timeseries } = options;
  if (viewOn) collection.viewOn = viewOn;
  if (capped) collection.capped = true;
  if (validator && Object.keys(validator).length > 0)
    collection.validator = JSON.parse(formatEjson(validator));
  if (timeseries) {
    const { timeField, metaField, granularity } = timeseries;
    collection.timeseries = {
      timeField,
      ...(metaField && { metaField }),
      ...(granularity && { granularity }),
    };
  }
  return collection;
}

const index = z.object({
  name: z.string(),
  key: z.record(z.string(), z.unknown()),
  unique: z.unknown(),
  sparse: z.unknown(),
  expireAfterSeconds: z.unknown(),
  partialFilterExpression: z.unknown(),
  hidden: z.unknown(),
});

/** Returns null for an index that queries do not use. */
export function readIndex(entry: unknown): IndexInfo | null {
  const parsed = index.partial().required({ name: true, key: true }).safeParse(entry);
  if (!parsed.success || parsed.data.hidden === true) return null;
  const { name, key, unique, sparse, expireAfterSeconds, partialFilterExpression } = parsed.data;
  const read: IndexInfo = { name, key: readKey(key), unique: unique === true || isIdAlone(key) };
  if (sparse === true) read.sparse = true;
  if (expireAfterSeconds !== undefined) read.expireAfterSeconds = Number(expireAfterSeconds);
  if (partialFilterExpression !== undefined) read.partial = true;
  return read;
}

export async function indexesOf(
  client: MongoClient,
  database: string,
  collection: string,
): Promise<IndexInfo[]> {
  const cursor = client.db(database).collection(collection).listIndexes({ maxTimeMS: bounds.queryTimeMs });
  const indexes: IndexInfo[] = [];
  for await (const entry of cursor) {
    const read = readIndex(entry);
    if (read) indexes.push(read);
    if (indexes.length === bounds.indexes) break;
  }
  return indexes;
}

/** Returns the server's own count. A view has none, so the server would compute it. */
export async function estimatedCount(
  client: MongoClient,
  { database, collection }: CollectionName,
  signal: AbortSignal,
): Promise<number> {
  const command = { count: collection, maxTimeMS: bounds.queryTimeMs };
  const { readPreference } = client;
  const { n } = await client.db(database).command(command, { readPreference, signal });
  return Math.max(0, Number(n) || 0);
}

function readKey(key: Record<string, unknown>): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(key).map(([field, kind]) => [field, typeof kind === 'string' ? kind : Number(kind)]),
  );
}

/** The server lists its index without `unique`. */
function isIdAlone(key: Record<string, unknown>): boolean {
  const fields = Object.keys(key);
  return fields.length === 1 && fields[0] === '_id' && key['_id'] !== 'hashed';
}
