/**
 * Infers a collection's schema from a sample: all documents of a small one, otherwise the server's random choice,
 * or the first ones where it cannot choose.
 */
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { AbstractCursor, MongoClient } from 'mongodb';
import type { CollectionName, CollectionSchema, IndexInfo } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import type { Connection } from '../connection/connection.ts';
import { SchemaInference } from '../schema/inference.ts';
import { batchesOf, readAhead } from './batches.ts';
import { estimatedCount, indexesOf, type ListedCollection } from './collection-info.ts';
import { collectionNamed } from './discover.ts';

const bounds = limits.documents;
const timeMs = bounds.queryTimeMs;

type Sample = Pick<CollectionSchema, 'sampled' | 'sampleMethod' | 'fields' | 'notes'> & {
  /** Set when every document was read. */
  total?: number;
};

interface Sampling {
  connection: Connection;
  name: CollectionName;
  size: number;
  signal: AbortSignal | undefined;
}

/**
 * Sends all requests at once. The sample waits only for the count, not for the catalogue: requests that a view or a
 * missing collection makes needless are cancelled.
 */
export async function sampledSchema(sampling: Sampling): Promise<CollectionSchema> {
  const { connection, name, signal } = sampling;
  const needless = new AbortController();
  const aside = signal ? AbortSignal.any([signal, needless.signal]) : needless.signal;
  const asked = { name, timeMs, signal: aside };
  const counting = connection.ask((client, ended) => estimatedCount(client, name, ended), asked);
  const listing = connection.ask((client) => indexesOf(client, name.database, name.collection), asked);
  const drawing = counting.then((estimate) => sample({ ...sampling, signal: aside }, estimate));
  for (const answer of [listing, drawing]) answer.catch(() => {});
  try {
    const collection = await collectionNamed(connection, name, signal);
    if (collection.type === 'view') {
      // No server counts a view's documents.
      return describe(name, collection, { estimate: null, indexes: [], sample: await sample(sampling, 0) });
    }
    const [estimate, indexes, drawn] = await Promise.all([counting, listing, drawing]);
    return describe(name, collection, { estimate, indexes, sample: drawn });
  } finally {
    needless.abort();
  }
}

interface Found {
  estimate: number | null;
  indexes: IndexInfo[];
  sample: Sample;
}

function describe(
  name: CollectionName,
  collection: ListedCollection,
  { estimate, indexes, sample }: Found,
): CollectionSchema {
  const { type, viewOn, validator, timeseries, capped } = collection;
  const { total, sampled, sampleMethod, fields, notes } = sample;
  return {
    name,
    type,
    sampled,
    sampleMethod,
    documentCount: total ?? (estimate === null ? null : Math.max(estimate, sampled)),
    fields,
    indexes,
    ...(viewOn !== undefined && { viewOn }),
    ...(validator !== undefined && { validator }),
    ...(timeseries && { timeseries }),
    ...(capped && { capped }),
    notes: [...marks(collection), ...notes],
  };
}

async function sample(sampling: Sampling, estimate: number): Promise<Sample> {
  const { size } = sampling;
  // An estimate may be wrong; one document more than requested reveals it.
  const first = estimate <= size ? await readFirst(sampling, size + 1) : null;
  if (first && first.sampled <= size) return { ...first, sampleMethod: 'all', total: first.sampled };
  const drawn = await draw(sampling);
  if (drawn) return drawn;
  const fallback = await readFirst(sampling, size);
  const note = 'The server could not draw a random sample; these are its first documents.';
  return { ...fallback, notes: [note, ...fallback.notes] };
}

async function readFirst(sampling: Sampling, limit: number): Promise<Sample> {
  const inferred = await infer(sampling, limit, (client, signal) =>
    collectionOf(client, sampling.name).find({}, { ...cursorOptions(limit), signal, limit }),
  );
  return { ...inferred, sampleMethod: 'first' };
}

/** Returns null when the server does not support it, or takes too long. */
async function draw(sampling: Sampling): Promise<Sample | null> {
  const { connection, name, size, signal } = sampling;
  try {
    const inferred = await infer(sampling, size, (client, ended) =>
      collectionOf(client, name).aggregate([{ $sample: { size } }], {
        ...cursorOptions(size),
        maxTimeMS: bounds.drawTimeMs,
        signal: ended,
      }),
    );
    return { ...inferred, sampleMethod: 'random' };
  } catch (error) {
    if (signal?.aborted || connection.faults.codeOf(error) === null) throw error;
    return null;
  }
}

async function infer(
  { connection, name, signal }: Sampling,
  limit: number,
  open: (client: MongoClient, signal: AbortSignal) => AbstractCursor,
): Promise<Omit<Sample, 'sampleMethod'>> {
  const inference = await connection.ask(
    async (client, ended) => {
      const fresh = new SchemaInference();
      for await (const batch of readAhead(batchesOf(client, open(client, ended), ended, limit))) {
        for (const [index, document] of batch.entries()) {
          fresh.add(document);
          if ((index + 1) % bounds.sampleTurnDocuments === 0) await turnOfOthers();
        }
      }
      return fresh;
    },
    { name, timeMs, signal },
  );
  return { sampled: inference.sampled, fields: inference.fields(), notes: inference.notes() };
}

function marks({ type, viewOn, capped }: ListedCollection): string[] {
  const notes: string[] = [];
  if (type === 'view') notes.push(`A view on '${viewOn ?? '?'}': its documents are computed at each query.`);
  if (capped) notes.push('Capped: new documents replace the oldest.');
  return notes;
}

function cursorOptions(documents: number) {
  // A batch with room left shows the end without another round trip.
  return {
    raw: true,
    maxTimeMS: timeMs,
    batchSize: Math.min(documents, bounds.sampleBatchDocuments) + 1,
  } as const;
}

function collectionOf(client: MongoClient, { database, collection }: CollectionName) {
  return client.db(database).collection(collection);
}
