/** Lists databases and collections. */
import type { Document, MongoClient } from 'mongodb';
import { z } from 'zod';
import type { CollectionInfo, DatabaseInfo } from '../../control/ports/index.ts';
import type { CollectionName } from '../../model/document-schema.ts';
import { notFound, type SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import type { Connection, Work } from '../connection/connection.ts';
import { estimatedCount, indexesOf, type ListedCollection, readCollection } from './collection-info.ts';

const bounds = limits.documents;
const timeMs = bounds.queryTimeMs;

/** Databases of the server itself. */
const internal = new Set(['admin', 'config', 'local']);

const UNAUTHORIZED = 13;
/** Dropped, or replaced by a view, after the listing. */
const CHANGED_MEANWHILE = [26, 166];

const listed = z.object({
  name: z.string().min(1),
  sizeOnDisk: z.unknown().optional(),
  empty: z.unknown().optional(),
});

export async function databases(connection: Connection, signal?: AbortSignal): Promise<DatabaseInfo[]> {
  const reply = await connection.ask(
    async (client, ended) => {
      const options = { signal: ended, readPreference: client.readPreference };
      return await client.db('admin').command({ listDatabases: 1, maxTimeMS: timeMs }, options);
    },
    { timeMs, signal },
  );
  const entries: unknown[] = Array.isArray(reply['databases']) ? reply['databases'] : [];
  return entries
    .flatMap((entry) => {
      const parsed = listed.safeParse(entry);
      if (!parsed.success || internal.has(parsed.data.name)) return [];
      const { name, sizeOnDisk, empty } = parsed.data;
      return [{ name, sizeOnDisk: Number(sizeOnDisk ?? 0) || 0, empty: empty === true }];
    })
    .toSorted(byName)
    .slice(0, bounds.databases);
}

export async function collections(
  connection: Connection,
  database: string,
  signal?: AbortSignal,
): Promise<CollectionInfo[]> {
  const found = await listCollections(connection, database, {}, signal);
  if (found.length === 0) await refuseUnknown(connection, database, signal);
  const described: (CollectionInfo | null)[] = [];
  const remaining = found.entries();
  const describeRest = async () => {
    for (const [at, collection] of remaining) {
      described[at] = await describe(connection, database, collection, signal);
    }
  };
  await Promise.all(Array.from({ length: bounds.discoveredAtOnce }, describeRest));
  return described.filter((info) => info !== null);
}

/** Rejects with `not_found`, naming the nearest, for an unknown name. */
export async function collectionNamed(
  connection: Connection,
  { database, collection }: CollectionName,
  signal?: AbortSignal,
): Promise<ListedCollection> {
  const found = await listCollections(connection, database, { name: collection }, signal);
  const same = found.find(({ name }) => name === collection);
  if (same) return same;
  const all = await listCollections(connection, database, {}, signal);
  if (all.length === 0) await refuseUnknown(connection, database, signal);
  throw unknownCollection(
    { database, collection },
    all.map(({ name }) => name),
  );
}

/** Sorted by name, up to the limit. */
async function listCollections(
  connection: Connection,
  database: string,
  filter: Document,
  signal: AbortSignal | undefined,
): Promise<ListedCollection[]> {
  const list = (permitted: object) => async (client: MongoClient, ended: AbortSignal) => {
    const options = { ...permitted, signal: ended, batchSize: bounds.batchDocuments, maxTimeMS: timeMs };
    const found: ListedCollection[] = [];
    for await (const entry of client.db(database).listCollections(filter, options)) {
      const collection = readCollection(entry);
      if (collection) found.push(collection);
      if (found.length === bounds.collections) break;
    }
    return found.toSorted(byName);
  };
  const asked = { timeMs, signal };
  try {
    return await connection.ask(list({ nameOnly: false }), asked);
  } catch (error) {
    if (connection.faults.codeOf(error) !== UNAUTHORIZED) throw error;
    // A user who may read some collections may list these, by name.
    return await connection.ask(list({ nameOnly: true, authorizedCollections: true }), asked);
  }
}

/** Returns null for a collection dropped meanwhile. */
async function describe(
  connection: Connection,
  database: string,
  collection: ListedCollection,
  signal: AbortSignal | undefined,
): Promise<CollectionInfo | null> {
  const { name, type } = collection;
  const asked = { name: { database, collection: name }, timeMs, signal };
  const own = async <T>(work: Work<T>): Promise<T | 'unauthorized' | 'gone'> => {
    try {
      return await connection.ask(work, asked);
    } catch (error) {
      const code = connection.faults.codeOf(error);
      if (code === UNAUTHORIZED) return 'unauthorized';
      if (code !== null && CHANGED_MEANWHILE.includes(code)) return 'gone';
      throw error;
    }
  };
  if (type === 'view') return { name, type, documentCount: null, indexes: [] };
  const [count, indexes] = await Promise.all([
    own((client, ended) => estimatedCount(client, asked.name, ended)),
    own((client) => indexesOf(client, database, name)),
  ]);
  if (count === 'gone' || indexes === 'gone') return null;
  const documentCount = count === 'unauthorized' ? null : count;
  return { name, type, documentCount, indexes: indexes === 'unauthorized' ? [] : indexes };
}

/** Most commands do not distinguish a database without collections from one that does not exist. */
async function refuseUnknown(connection: Connection, database: string, signal?: AbortSignal): Promise<void> {
  const names = (await databases(connection, signal)).map(({ name }) => name);
  if (names.includes(database)) return;
  throw notFound(
    'database',
    `There is no database '${database}'.`,
    didYouMean(database, names, 'DocumentDb.DiscoverDatabases lists the databases.'),
  );
}

function unknownCollection({ database, collection }: CollectionName, names: string[]): SandhavenError {
  const hint = didYouMean(
    collection,
    names,
    `DocumentDb.DiscoverCollections lists the collections of '${database}'.`,
  );
  return notFound('collection', `There is no collection '${collection}' in '${database}'.`, hint);
}

function didYouMean(word: string, names: readonly string[], otherwise: string): string {
  const close = nearest(word, names, 3).map((name) => `'${name}'`);
  return close.length > 0 ? `Did you mean ${close.join(' or ')}? ${otherwise}` : otherwise;
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}
