/** A cursor's documents as the bytes that came, a round trip's worth at a time. */
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { AbstractCursor, Long, MongoClient } from 'mongodb';
import { SandhavenError } from '../../model/errors.ts';

/**
 * Of a cursor that was opened with `raw` and this signal. Closes it, however this ends; when the signal is aborted, on
 * the server at once.
 *
 * @param limit As many as the query can give, for who reads to the end. Nothing is asked for beyond it: some servers
 *   leave a cursor open whose limit they have reached, and the driver then closes it as if it was ended from outside.
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
    // The driver ends a cursor that it closed itself like one that is through.
    if (count < limit && cursor.killed)
      throw new SandhavenError('unavailable', 'The query was ended.', { hint: 'Call again.' });
  } finally {
    signal.removeEventListener('abort', kill);
    // The server is told, and nobody waits until it has heard.
    cursor.close().catch(() => {});
  }
}

/** The same, and the server works on the next batch while this one is looked at. */
export async function* readAhead<T>(batches: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  const next = () => {
    const coming = batches.next();
    // It is looked at in its turn; until then its failure is nobody's.
    coming.catch(() => {});
    return coming;
  };
  let coming = next();
  try {
    for (;;) {
      const batch = await coming;
      if (batch.done) return;
      coming = next();
      // The request leaves before what may be long work begins, and others get their turn.
      await turnOfOthers();
      yield batch.value;
    }
  } finally {
    batches.return().catch(() => {});
  }
}

/**
 * The driver's own way to do this while it waits for documents is lost when they come first: their arrival ends the
 * session that it wants to say it in. To close a cursor twice does no harm.
 */
function killCursor(client: MongoClient, { namespace, readPreference }: AbstractCursor, id: Long): void {
  const command = { killCursors: namespace.collection, cursors: [id] };
  client
    .db(namespace.db)
    .command(command, { readPreference })
    .catch(() => {});
}
