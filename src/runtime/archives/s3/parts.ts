/** Cuts a stream into parts of one size, the last one aside, and hashes them as they fill. Copies nothing. */
import { createHash } from 'node:crypto';
import type { Body } from './exchange.ts';

/** Yields at least one part; that of an empty stream is empty. */
export async function* partsOf(
  bytes: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<{ body: Body; last: boolean }> {
  let filling = emptyPart();
  for await (const piece of bytes) {
    let rest = piece;
    while (rest.byteLength > 0) {
      // A full part is held back until more comes: it may be the last one.
      if (filling.sizeBytes === partBytes) {
        yield { body: filling.end(), last: false };
        filling = emptyPart();
      }
      const taken = rest.subarray(0, partBytes - filling.sizeBytes);
      filling.add(taken);
      rest = rest.subarray(taken.byteLength);
    }
  }
  yield { body: filling.end(), last: true };
}

function emptyPart() {
  const hash = createHash('sha256');
  const pieces: Uint8Array[] = [];
  return {
    sizeBytes: 0,
    add(piece: Uint8Array) {
      hash.update(piece);
      pieces.push(piece);
      this.sizeBytes += piece.byteLength;
    },
    end(): Body {
      return { pieces, sizeBytes: this.sizeBytes, sha256: hash.digest('hex') };
    },
  };
}
