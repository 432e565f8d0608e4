/** A cursor's documents as the bytes that came, a round trip's worth at a time. */
import type { AbstractCursor } from 'mongodb';
import { SandhavenError } from '../model/errors.ts';

/** Of a cursor that was opened with `raw`. Closes it, however this ends. */
export async function* batchesOf(cursor: AbstractCursor): AsyncGenerator<Uint8Array[], void, void> {
  try {
    while (await cursor.hasNext()) yield cursor.readBufferedDocuments() as Uint8Array[];
    // The driver ends a cursor that it closed itself like one that is through.
    if (cursor.killed)
      throw new SandhavenError('unavailable', 'The query was ended.', { hint: 'Call again.' });
  } finally {
    // The server is told, and nobody waits until it has heard.
    cursor.close().catch(() => {});
  }
}
