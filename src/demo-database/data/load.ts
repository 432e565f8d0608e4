/**
 * Loads the demo data into a database. A mark is removed before any other change and written when everything is
 * present and counted, so a load interrupted in between leaves a set that the next call replaces.
 */
import type { Document, ObjectId } from 'bson';
import type { Db, IndexDescription, MongoClient } from 'mongodb';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { customerBy, customerDocument, customerId } from './customers.ts';
import { orderDocument } from './orders.ts';
import { productDocument, productId, productSoldAt } from './products.ts';
import { idAt, Random, trace, uuid, type Weighted } from './random.ts';
import { momentOf, planShop, type Shop } from './shop.ts';
import { queries, text } from './words.ts';

const { batchDocuments, batchesInFlight } = limits.documents.demo;

export interface LoadOptions {
  /** Number in all collections together; null for as many as there are, or the default. */
  documents: number | null;
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
const VERSION = 2;
/** The mark is beside the server's own data, where no list of databases or collections for callers shows it. */
const mark = { database: 'admin', collection: 'sandhaven_demo' } as const;

export async function loadDemoData(client: MongoClient, options: LoadOptions): Promise<LoadedData> {
  try {
    return await loadUnlessThere(client, options);
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : withoutBatch(error);
  }
}

async function loadUnlessThere(client: MongoClient, options: LoadOptions): Promise<LoadedData> {
  const { database = 'shop', signal } = options;
  const db = client.db(database);
  const marks = client.db(mark.database).collection<Mark>(mark.collection);
  const found = await marks.findOne({ _id: database });
  const documents = options.documents ?? found?.documents ?? limits.documents.demo.documents.default;
  const shop = planShop(documents);
  if (found?.version === VERSION && found.documents === documents) {
    const collections = await count(db);
    if (collectionNames.every((name) => collections[name] > 0)) return { loaded: false, collections };
  }
  signal?.throwIfAborted();
  await marks.deleteOne({ _id: database });
  await db.dropDatabase();
  await insertAll(db, shop, documents, options);
  for (const name of collectionNames) {
    signal?.throwIfAborted();
    await db.collection(name).createIndexes(indexes[name]);
  }
  await createView(db);
  const collections = await count(db);
  if (collectionNames.some((name) => collections[name] !== shop[name])) throw changedMeanwhile();
  await marks.replaceOne({ _id: database }, { version: VERSION, documents }, { upsert: true });
  return { loaded: true, collections };
}

/** Sends a few batches at once. All are answered when it returns, so that none arrives after the next drop. */
async function insertAll(db: Db, shop: Shop, total: number, { onProgress, signal }: LoadOptions) {
  const remaining = batchesOf(shop);
  let done = 0;
  const insertRest = async () => {
    for (const [collection, documents] of remaining) {
      signal?.throwIfAborted();
      await db.collection(collection).insertMany(documents, { ordered: false });
      done += documents.length;
      onProgress?.(done, total);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: batchesInFlight }, insertRest));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

function* batchesOf(shop: Shop): Generator<[DemoCollection, Document[]]> {
  for (const collection of collectionNames) {
    for (let from = 0; from < shop[collection]; from += batchDocuments) {
      yield [collection, [...documentsOf(shop, collection, from, from + batchDocuments)]];
    }
  }
}

/** Some servers have no views; the data is whole without it. */
async function createView(db: Db): Promise<void> {
  const month = { $dateToString: { date: '$created_at', format: '%Y-%m' } };
  const pipeline = [
    { $group: { _id: { month, region: '$region' }, orders: { $sum: 1 }, revenue: { $sum: '$total' } } },
    { $project: { _id: 1, month: '$_id.month', region: '$_id.region', orders: 1, revenue: 1 } },
  ];
  const view = db.createCollection('monthly_orders', { viewOn: 'orders', pipeline });
  await view.catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'MongoServerError') throw error;
  });
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

/** Those of some places, or all: ordered by id, which is the order of time. */
export function* documentsOf(
  shop: Shop,
  collection: DemoCollection,
  from = 0,
  before = shop[collection],
): Generator<Document> {
  const end = Math.min(before, shop[collection]);
  for (let place = from; place < end; place++) yield documentAt[collection](shop, place);
}

// Makes the events on the shop's pages and behind them.

const types: Weighted<string> = [
  ['page_view', 52],
  ['search', 16],
  ['cart', 15],
  ['order_placed', 10],
  ['review', 4],
  ['error', 3],
];

export function eventDocument(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'events', place);
  const share = (place + random.fraction()) / shop.events;
  const at = momentOf(share);
  const type = random.pickWeighted(types);
  const product = () => productId(shop, productSoldAt(shop, at, random));
  return {
    _id: idAt(shop.seed, 'events', place, at),
    at: new Date(at),
    type,
    session: uuid(random),
    trace: trace(random),
    device: { kind: random.pick(['phone', 'desktop']), ...(random.chance(0.6) && { app: '4.12' }) },
    // Whole milliseconds, except for browsers with finer clocks.
    duration_ms: random.chance(0.8) ? random.integer(4, 900) : Math.round(random.fraction() * 9e5) / 1e3,
    ...(type === 'order_placed' ? orderBefore(shop, share) : visitor(shop, at, random)),
    ...detailsOf(type, random, product),
  };
}

/** Null for customers who are logged out, and nothing for strangers. */
function visitor(shop: Shop, at: number, random: Random): Document {
  if (random.chance(0.2)) return {};
  return { customer_id: random.chance(0.1) ? null : customerId(shop, customerBy(shop, at, random)) };
}

function orderBefore(shop: Shop, share: number): Document {
  const { _id, customer_id } = orderDocument(shop, Math.max(0, Math.floor(share * shop.orders) - 1));
  return { customer_id, order_id: _id };
}

function detailsOf(type: string, random: Random, product: () => ObjectId): Document {
  const stars = random.integer(1, 5);
  switch (type) {
    case 'page_view':
      return { product_id: product(), ...(random.chance(0.3) && { referrer: null }) };
    case 'search':
      return { query: random.pick(queries), results: random.integer(0, 90) };
    case 'cart':
      // Quantity of each product: the keys are products.
      return { cart: { [product().toHexString()]: 1, [product().toHexString()]: random.integer(1, 5) } };
    case 'review':
      return {
        product_id: product(),
        // A number from the app, text from the old form.
        stars: random.chance(0.85) ? stars : String(stars),
        text: text(random, random.chance(0.1) ? random.integer(20, 60) : random.integer(1, 4)),
      };
    case 'error':
      return { level: 'warning', message: 'HTTP 502\n  at pay:41', code: random.pick([502, 'ETIMEDOUT']) };
    default:
      return {};
  }
}
