/**
 * Loads the demo data into a database. A mark is removed before any other change and written when everything is
 * present and counted, so a load interrupted in between leaves a set that the next call replaces.
 */
import type { Document } from 'bson';
import type { Db, IndexDescription, MongoClient } from 'mongodb';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { customerDocument } from './customers.ts';
import { eventDocument } from './events.ts';
import { orderDocument } from './orders.ts';
import { productDocument } from './products.ts';
import { planShop, type Shop } from './shop.ts';

const { batchDocuments, batchesInFlight } = limits.documents.demo;

export interface LoadOptions {
  /** Number in all collections together. */
  documents: number;
  /** `shop` unless a test needs one of its own. */
  database?: string;
  onProgress?(done: number, total: number): void;
  /** Stops between two batches. */
  signal?: AbortSignal | undefined;
}

export interface LoadedData {
  /** False when the whole set already existed. */
  loaded: boolean;
  collections: Record<DemoCollection, number>;
}

/** Contents of a whole set's mark. */
interface Mark {
  _id: string;
  version: number;
  documents: number;
}

/** Raised with every change of the documents, indexes or views. */
const VERSION = 1;
/** The mark is beside the server's own data, where no list of databases or collections for callers shows it. */
const mark = { database: 'admin', collection: 'sandhaven_demo' } as const;

interface Batch {
  collection: DemoCollection;
  documents: Document[];
}

export async function loadDemoData(client: MongoClient, options: LoadOptions): Promise<LoadedData> {
  try {
    return await loadUnlessThere(client, options);
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : withoutBatch(error);
  }
}

async function loadUnlessThere(client: MongoClient, options: LoadOptions): Promise<LoadedData> {
  const { documents, database = 'shop', signal } = options;
  const shop = planShop(documents);
  const db = client.db(database);
  const marks = client.db(mark.database).collection<Mark>(mark.collection);
  const found = await marks.findOne({ _id: database });
  if (found?.version === VERSION && found.documents === documents && (await hasCollections(db))) {
    return { loaded: false, collections: await count(db) };
  }
  signal?.throwIfAborted();
  await marks.deleteOne({ _id: database });
  await db.dropDatabase();
  await insertAll(db, shop, options);
  for (const name of collectionNames) {
    signal?.throwIfAborted();
    await db.collection(name).createIndexes(indexes[name]);
  }
  await createViews(db);
  const collections = await count(db);
  if (collectionNames.some((name) => collections[name] !== shop[name])) throw changedMeanwhile();
  await marks.replaceOne({ _id: database }, { version: VERSION, documents }, { upsert: true });
  return { loaded: true, collections };
}

/** Sends a few batches at once. All are answered when it returns, so that none arrives after the next drop. */
async function insertAll(db: Db, shop: Shop, { documents, onProgress, signal }: LoadOptions): Promise<void> {
  const remaining = batchesOf(shop);
  let done = 0;
  const insertRest = async () => {
    for (const batch of remaining) {
      signal?.throwIfAborted();
      await db.collection(batch.collection).insertMany(batch.documents, { ordered: false });
      done += batch.documents.length;
      onProgress?.(done, documents);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: batchesInFlight }, insertRest));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

function* batchesOf(shop: Shop): Generator<Batch> {
  for (const collection of collectionNames) {
    let documents: Document[] = [];
    for (const document of documentsOf(shop, collection)) {
      documents.push(document);
      if (documents.length < batchDocuments) continue;
      yield { collection, documents };
      documents = [];
    }
    if (documents.length > 0) yield { collection, documents };
  }
}

/** Some servers have no views; the data is whole without them. */
async function createViews(db: Db): Promise<void> {
  for (const [name, view] of Object.entries(views)) {
    await db.createCollection(name, view).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'MongoServerError') throw error;
    });
  }
}

async function hasCollections(db: Db): Promise<boolean> {
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  return collectionNames.every((name) => listed.some((collection) => collection.name === name));
}

async function count(db: Db): Promise<Record<DemoCollection, number>> {
  const counted = collectionNames.map(async (name) => [name, await db.collection(name).countDocuments()]);
  return Object.fromEntries(await Promise.all(counted)) as Record<DemoCollection, number>;
}

/** The driver's own error holds the whole batch, and would be shown with it. */
function withoutBatch(error: unknown): unknown {
  if (!(error instanceof Error) || !error.name.startsWith('Mongo')) return error;
  return new SandhavenError('unavailable', `The database rejected the demo data: ${error.message}`, {
    hint: 'Try again; what was loaded in part is loaded anew.',
  });
}

function changedMeanwhile(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The demo data changed while it was being loaded.', {
    hint: 'Something else writes to the same database, perhaps another sandhaven demo-db; end it and try again.',
  });
}

/**
 * Defines the collections of the demo data with their indexes. A document is made on demand, from the seed and its
 * place, so that a set of any size takes no more memory than its batches in flight.
 */
export const collectionNames = ['customers', 'products', 'orders', 'events'] as const;
export type DemoCollection = (typeof collectionNames)[number];

const documentAt: Record<DemoCollection, (shop: Shop, place: number) => Document> = {
  customers: customerDocument,
  products: productDocument,
  orders: orderDocument,
  events: eventDocument,
};

/** `products.category` has none on purpose: a filter by it shows the use of an index. */
const indexes: Record<DemoCollection, IndexDescription[]> = {
  customers: [{ key: { email: 1 }, name: 'email_1', unique: true }],
  products: [{ key: { sku: 1 }, name: 'sku_1', unique: true }],
  orders: [
    { key: { created_at: 1 }, name: 'created_at_1' },
    { key: { region: 1, created_at: 1 }, name: 'region_1_created_at_1' },
    { key: { customer_id: 1 }, name: 'customer_id_1' },
  ],
  events: [{ key: { at: 1 }, name: 'at_1' }],
};

const views: Record<string, { viewOn: DemoCollection; pipeline: Document[] }> = {
  monthly_orders: {
    viewOn: 'orders',
    pipeline: [
      {
        $group: {
          _id: { month: { $dateToString: { date: '$created_at', format: '%Y-%m' } }, region: '$region' },
          orders: { $sum: 1 },
          revenue: { $sum: '$total' },
        },
      },
      { $project: { _id: 1, month: '$_id.month', region: '$_id.region', orders: 1, revenue: 1 } },
    ],
  },
};

/** Ordered by id, which is the order of time. */
export function* documentsOf(shop: Shop, collection: DemoCollection): Generator<Document> {
  for (let place = 0; place < shop[collection]; place++) yield documentAt[collection](shop, place);
}
