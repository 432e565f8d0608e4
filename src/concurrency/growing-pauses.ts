/**
 * Pauses between looks at something that is about to change. Each is a quarter longer than the one before, so a wait is at
 * most about a quarter longer than it has to be, and a long one costs few looks.
 */

const FIRST_MS = 1;
const GROWTH = 1.25;

/** Yields without end: milliseconds, from 1 to `longestMs`. */
export function* growingPauses(longestMs: number): Generator<number, never> {
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(pauseMs * GROWTH, longestMs)) yield pauseMs;
}
