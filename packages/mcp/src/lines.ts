/** Splits a stream of bytes into lines; of a line that is too long, only the fact comes. */

const NEWLINE = 10;

/** Yields each line that is not empty; null in place of one with more than `maxBytes`. */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string | null> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const add = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const take = (): string | null => {
    const line = bytes > maxBytes ? null : Buffer.concat(pieces).toString('utf8').trim();
    pieces = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of input) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      const line = take();
      if (line !== '') yield line;
    }
    add(chunk.subarray(from));
  }
}
