/** Reads a cursor's documents as raw bytes, one round trip's batch at a time. */
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { AbstractCursor, Long, MongoClient } from 'mongodb';
import { SandhavenError } from '../../model/errors.ts';

/**
 * Takes a cursor opened with `raw` and this signal. Always closes it; after an abort, on the server at once.
 *
 * @param limit Most documents that the query can yield, for a reader to the end. Nothing is requested beyond it: some
 * servers leave a cursor open at its limit, and the driver then closes it as if it was ended from outside.
 */
export async function* batchesOf(
  client: MongoClient,
  cursor: AbstractCursor,
  signal: AbortSignal,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array[], void, void> {
  let id: Long | undefined;
  let count = 0;
  const kill = () => {
    if (id && !id.isZero()) killCursor(client, cursor, id);
  };
  signal.addEventListener('abort', kill, { once: true });
  try {
    while (count < limit && (await cursor.hasNext())) {
      id = cursor.id;
      const batch = cursor.readBufferedDocuments() as Uint8Array[];
      count += batch.length;
      yield batch;
    }
    // The driver ends a cursor that it killed itself like an exhausted one.
    if (count < limit && cursor.killed)
      throw new SandhavenError('unavailable', 'The query was ended.', { hint: 'Call again.' });
  } finally {
    signal.removeEventListener('abort', kill);
    // Nobody waits for the server's answer.
    cursor.close().catch(() => {});
  }
}

/** Yields the same batches, with the next one requested while this one is processed. */
export async function* readAhead<T>(batches: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  const next = () => {
    const coming = batches.next();
    // Its failure is handled in its turn; until then it must not count as unhandled.
    coming.catch(() => {});
    return coming;
  };
  let coming = next();
  try {
    for (;;) {
      const batch = await coming;
      if (batch.done) return;
      coming = next();
      // The request is sent before possibly long work begins, and others get their turn.
      await turnOfOthers();
      yield batch.value;
    }
  } finally {
    batches.return().catch(() => {});
  }
}

/**
 * Replaces the driver's own way of killing a cursor, which fails when documents arrive first: their arrival ends
 * the session that it needs. Killing a cursor twice does no harm.
 */
function killCursor(client: MongoClient, { namespace, readPreference }: AbstractCursor, id: Long): void {
  const command = { killCursors: namespace.collection, cursors: [id] };
  client
    .db(namespace.db)
    .command(command, { readPreference })
    .catch(() => {});
}
