/** Reads the first documents of a cursor as text, up to a number and a size in bytes. */
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { limits } from '../../model/limits.ts';
import { EjsonWriter } from '../bson/write/write.ts';

const { resultTurnBytes } = limits.documents;

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
