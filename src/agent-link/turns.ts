/** Output of two streams, interleaved as it was printed, and which bytes are of which. */
import type { LivePiece } from '../control/ports/index.ts';

/** Most that an agent says of one answer. */
export const MAX_TURNS = 16_400;

/**
 * Splits output where its stream changes.
 * @param turns Bytes of stdout and stderr alternately, those included that are left out. What they do not reach is stdout.
 */
export function splitByTurns(pieces: readonly LivePiece[], turns: readonly number[]): LivePiece[] {
  const split: LivePiece[] = [];
  let nth = 0;
  let left = turns[0] ?? Number.POSITIVE_INFINITY;
  /** Passes up to so many bytes of one stream. */
  const pass = (bytes: number): { stream: LivePiece['stream']; count: number } => {
    while (left === 0) {
      nth++;
      left = turns[nth] ?? Number.POSITIVE_INFINITY;
    }
    const stream = nth < turns.length && nth % 2 === 1 ? 'stderr' : 'stdout';
    const count = Math.min(bytes, left);
    left -= count;
    return { stream, count };
  };
  for (const { bytes, leftOutBytes } of pieces) {
    for (let gone = leftOutBytes; gone > 0; ) gone -= pass(gone).count;
    let first = leftOutBytes;
    for (let at = 0; at < bytes.length || first > 0; ) {
      const { stream, count } =
        bytes.length > at ? pass(bytes.length - at) : { stream: 'stdout' as const, count: 0 };
      split.push({ stream, bytes: bytes.subarray(at, at + count), leftOutBytes: first });
      at += count;
      first = 0;
    }
  }
  return split;
}
