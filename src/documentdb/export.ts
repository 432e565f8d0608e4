/**
 * A query's result as JSON lines, in pieces of a steady size: as many documents are held as one round trip brings,
 * and the next ones are on their way while a piece is taken.
 */
import type { AbstractCursor, MongoClient } from 'mongodb';
import type { ExportedQuery } from '../control/ports.ts';
import { limits } from '../model/limits.ts';
import { batchesOf, readAhead } from './batches.ts';
import { EjsonWriter } from './bson/write.ts';
import type { AskOptions, Connection } from './connection.ts';

const { exportChunkBytes, savedExamples } = limits.documents;

type Batches = AsyncGenerator<Uint8Array[], void, void>;

export type Open = (client: MongoClient, signal: AbortSignal) => AbstractCursor;

export interface Exporting {
  open: Open;
  asked: AskOptions;
  /** No more than these. */
  limit: number;
  notes: string[];
}

/** Fails here where the query itself does, before anything is made of its result. */
export async function exportQuery(connection: Connection, exporting: Exporting): Promise<ExportedQuery> {
  const { asked, open, limit } = exporting;
  const own = new AbortController();
  const signal = asked.signal ? AbortSignal.any([asked.signal, own.signal]) : own.signal;
  const stop = () => own.abort(new Error('The export is over.'));
  const begin = async (client: MongoClient) => {
    const batches = batchesOf(client, open(client, signal), signal, limit);
    return { batches, first: await batches.next() };
  };
  const { batches, first } = await connection.ask(begin, asked).catch((error: unknown) => {
    stop();
    throw error;
  });
  async function* all(): Batches {
    for (let batch = first; !batch.done; batch = await connection.askOnce(() => batches.next(), asked)) {
      yield batch.value;
    }
  }
  const end = () => {
    stop();
    // Behind what is still on its way, so nobody waits for it.
    batches.return().catch(() => {});
  };
  return new Export({ ...exporting, batches: readAhead(all()), end });
}

interface Begun extends Exporting {
  batches: Batches;
  end: () => void;
}

class Export implements ExportedQuery {
  count = 0;
  bytes = 0;
  readonly examples: string[] = [];
  readonly notes: string[];
  readonly lines: AsyncIterable<Uint8Array>;

  constructor(begun: Begun) {
    this.notes = begun.notes;
    this.lines = this.#lines(begun);
  }

  async *#lines({ batches, end, limit, asked }: Begun): AsyncGenerator<Uint8Array, void, void> {
    const writer = new EjsonWriter();
    try {
      for await (const batch of batches) {
        for (const document of batch) {
          if (this.count === limit) return;
          this.#add(writer, document);
          if (writer.length < exportChunkBytes) continue;
          yield this.#taken(writer);
          asked.signal?.throwIfAborted();
        }
      }
      if (writer.length > 0) yield this.#taken(writer);
    } finally {
      end();
    }
  }

  #add(writer: EjsonWriter, document: Uint8Array): void {
    if (this.examples.length < savedExamples) this.examples.push(new EjsonWriter().text(document));
    writer.line(document);
    this.count++;
  }

  #taken(writer: EjsonWriter): Uint8Array {
    const lines = writer.takeLines();
    this.bytes += lines.length;
    return lines;
  }
}
