/** Results of a query as text: its first documents, or all of them as JSON lines for a file. */
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { AbstractCursor, MongoClient } from 'mongodb';
import type { ExportedQuery } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { FirstNames } from '../bson/field.ts';
import { EjsonWriter } from '../bson/write/write.ts';
import { batchesOf, readAhead } from '../collections/batches.ts';
import type { AskOptions, Connection } from '../connection/connection.ts';

const { exportChunkBytes } = limits.documents;

type Batches = AsyncGenerator<Uint8Array[], void, void>;

/** @param first Most documents; 0 for all. */
export type Open = (client: MongoClient, signal: AbortSignal, first: number) => AbstractCursor;

export interface Exporting {
  open: Open;
  asked: AskOptions;
  /** Most documents to save; undefined for all. */
  limit: number | undefined;
}

export interface Exported extends ExportedQuery {
  /** The query yields no document. */
  readonly isEmpty: boolean;
}

/** Rejects when the query itself fails, before any output is made. */
export async function exportQuery(connection: Connection, exporting: Exporting): Promise<Exported> {
  const { asked, open, limit } = exporting;
  const own = new AbortController();
  const signal = asked.signal ? AbortSignal.any([asked.signal, own.signal]) : own.signal;
  const stop = () => own.abort(new Error('The export is over.'));
  // One more than are saved shows whether more follow.
  const first = limit === undefined ? 0 : limit + 1;
  const begin = async (client: MongoClient) => {
    const batches = batchesOf(client, open(client, signal, first), signal, first || undefined);
    return { batches, answer: await batches.next() };
  };
  const { batches, answer } = await connection.ask(begin, asked).catch((error: unknown) => {
    stop();
    throw error;
  });
  async function* all(): Batches {
    for (let batch = answer; !batch.done; batch = await connection.askOnce(() => batches.next(), asked)) {
      yield batch.value;
    }
  }
  const end = () => {
    stop();
    // Queued after the request in progress, so nobody waits for it.
    batches.return().catch(() => {});
  };
  return new Export({ ...exporting, batches: readAhead(all()), isEmpty: answer.done === true, end });
}

interface Begun extends Exporting {
  batches: Batches;
  isEmpty: boolean;
  end: () => void;
}

class Export implements Exported {
  count = 0;
  bytes = 0;
  hasMore = false;
  readonly isEmpty: boolean;
  readonly notes: string[] = [];
  readonly lines: AsyncIterable<Uint8Array>;
  readonly #names = new FirstNames();

  constructor(begun: Begun) {
    this.isEmpty = begun.isEmpty;
    this.lines = this.#lines(begun);
  }

  get fields(): string[] {
    return this.#names.list;
  }

  async *#lines({ batches, end, limit, asked }: Begun): AsyncGenerator<Uint8Array, void, void> {
    const writer = new EjsonWriter();
    try {
      for await (const batch of batches) {
        for (const document of batch) {
          this.hasMore = this.count === limit;
          if (this.hasMore) break;
          this.#add(writer, document);
          if (writer.length < exportChunkBytes) continue;
          yield this.#taken(writer);
          asked.signal?.throwIfAborted();
        }
        if (this.hasMore) break;
      }
      if (writer.length > 0) yield this.#taken(writer);
    } finally {
      end();
    }
  }

  #add(writer: EjsonWriter, document: Uint8Array): void {
    this.#names.add(document);
    writer.line(document);
    this.count++;
  }

  #taken(writer: EjsonWriter): Uint8Array {
    const lines = writer.takeLines();
    this.bytes += lines.length;
    return lines;
  }
}

const { resultTurnBytes } = limits.documents;

/** Reads the first documents of a cursor as text, up to a number and a size in bytes. */
export interface Page {
  documents: string[];
  /** More documents follow. */
  hasMore: boolean;
  /** Bytes of the last document in `documents`. */
  last: Uint8Array | null;
  /** Set when the size limit ended it: the text length of the document that did not fit. */
  tooLargeBytes: number | null;
}

/** Stops reading as soon as another document is seen. */
export async function readPage(
  batches: AsyncIterable<Uint8Array[]>,
  limit: number,
  maxBytes: number,
): Promise<Page> {
  const writer = new EjsonWriter();
  const documents: string[] = [];
  let last: Uint8Array | null = null;
  let bytes = 0;
  let turn = resultTurnBytes;
  for await (const batch of batches) {
    for (const document of batch) {
      if (documents.length === limit) return { documents, hasMore: true, last, tooLargeBytes: null };
      const text = writer.text(document);
      if (bytes + writer.length > maxBytes) {
        return { documents, hasMore: true, last, tooLargeBytes: writer.length };
      }
      bytes += writer.length;
      documents.push(text);
      last = document;
      if (bytes < turn) continue;
      turn = bytes + resultTurnBytes;
      await turnOfOthers();
    }
  }
  return { documents, hasMore: false, last, tooLargeBytes: null };
}

export function isEmptyPage({ documents, hasMore }: Page): boolean {
  return documents.length === 0 && !hasMore;
}

/** Returns null unless the size limit ended the page. */
export function cutNote({ documents, tooLargeBytes }: Page, maxBytes: number): string | null {
  if (tooLargeBytes === null) return null;
  const remedy =
    'project fewer fields, or write the result into a file with save_to_sandbox and save_to_path.';
  return documents.length > 0
    ? `Ended at ${maxBytes} bytes of text; for more at once, ${remedy}`
    : `The next document alone is ${tooLargeBytes} bytes of text, over the ${maxBytes} that a result holds: ${remedy}`;
}
