/**
 * Sends small queries beside a caller's query. Those that only improve its result return null without an answer in
 * their time.
 */
import type { Document, FindOptions, MongoClient } from 'mongodb';
import type { CollectionName } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import type { Connection } from '../connection/connection.ts';
import type { Asked } from '../connection/faults.ts';
import type { Probe } from '../hints/probe.ts';
import { batchesOf } from './batches.ts';

export interface Probes {
  /** Resolves with true when any document matches. */
  matches: Probe;
  /** Returns the last `_id` in that direction, as a document of its own. */
  lastId(direction: 1 | -1): Promise<Uint8Array | null>;
}

export function probesOf(
  connection: Connection,
  name: CollectionName,
  signal: AbortSignal | undefined,
): Probes {
  /** Returns the first document's `_id`; undefined when there is none. */
  const first = async (filter: Record<string, unknown>, options: FindOptions, timeMs: number) =>
    await connection.askOnce(
      async (client: MongoClient, ended) => {
        const collection = client.db(name.database).collection(name.collection);
        const own = { raw: true, signal: ended, maxTimeMS: timeMs, limit: 1, projection: { _id: 1 } };
        const cursor = collection.find(filter, { ...options, ...own });
        for await (const [document] of batchesOf(client, cursor, ended)) return document;
        return undefined;
      },
      { name, timeMs, signal },
    );
  const ifAnswered = async <T>(question: Promise<T>): Promise<T | null> => {
    try {
      return await question;
    } catch (error) {
      if (signal?.aborted) throw error;
      return null;
    }
  };
  return {
    matches: (filter, timeMs) =>
      ifAnswered(first(filter, {}, timeMs).then((document) => document !== undefined)),
    async lastId(direction) {
      const backwards = direction === 1 ? -1 : 1;
      const options = { sort: { _id: backwards } } as const;
      return (await ifAnswered(first({}, options, limits.documents.probeTimeMs))) ?? null;
    },
  };
}

/** Queries whose answer decides a result: they fail as the query itself does. */
export function questionsOf(connection: Connection, asked: Required<Asked>, signal: AbortSignal | undefined) {
  const { database, collection } = asked.name;
  const hasAny = async (stages: readonly Document[], timeMs: number): Promise<boolean> =>
    await connection.ask(
      async (client, ended) => {
        const first = [...stages, { $limit: 1 }, { $project: { _id: 1 } }];
        const options = { raw: true, signal: ended, maxTimeMS: timeMs };
        const cursor = client.db(database).collection(collection).aggregate(first, options);
        for await (const batch of batchesOf(client, cursor, ended, 1)) return batch.length > 0;
        return false;
      },
      { ...asked, timeMs, signal },
    );
  return {
    /** Resolves with true when the stages yield any document. */
    finds: hasAny,
    /** Resolves with true when any document matches. */
    matches: (filter: Document, timeMs: number) => hasAny([{ $match: filter }], timeMs),
  };
}
