/** Reads messages from an answer: server-sent events, within a bound for each. */

const NEWLINE = 10;
const RETURN = 13;
/** Counted for each piece besides its bytes, so that many tiny ones are bounded too. */
const PIECE_BYTES = 64;

export interface Budget {
  /** Throws where an answer may not grow by so many bytes. */
  take(bytes: number): void;
  /** All that was taken since the last call is free again. */
  clear(): void;
}

/** Yields the data of each event; its lines are joined by spaces, since line ends mean nothing between JSON's tokens. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>, budget: Budget): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  let data: string[] = [];
  let afterReturn = false;
  for await (const chunk of body) {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== NEWLINE && byte !== RETURN) continue;
      // A pair of both is one end of a line, also where it comes in two chunks.
      if (byte === NEWLINE && afterReturn && at === from) {
        afterReturn = false;
        from = at + 1;
        continue;
      }
      afterReturn = byte === RETURN;
      budget.take(at - from + PIECE_BYTES);
      const line = Buffer.concat([...pieces, chunk.subarray(from, at)]).toString('utf8');
      pieces = [];
      from = at + 1;
      if (line !== '') {
        const text = dataOf(line);
        if (text !== null) data.push(text);
        // Comments and other fields are kept no longer than they are read.
        if (data.length === 0) budget.clear();
        continue;
      }
      if (data.length > 0) yield data.join(' ');
      data = [];
      budget.clear();
    }
    if (from < chunk.length) {
      afterReturn = false;
      budget.take(chunk.length - from + PIECE_BYTES);
      pieces.push(chunk.subarray(from));
    }
  }
}

function dataOf(line: string): string | null {
  if (!line.startsWith('data:')) return null;
  return line.slice(line.startsWith('data: ') ? 6 : 5);
}
