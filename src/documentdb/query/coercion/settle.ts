/**
 * Runs a filter as written. Only when it matches nothing, the form is tried in which its strings are also compared as
 * the types that they look like; the result says so. A failure of that form leaves the result as written.
 */
import { tookTooLong } from '../../connection/faults.ts';
import { coerceFilter, type Query } from './coerce-filter.ts';
import type { ReadString } from './read-values.ts';
import { tellCoerced, tellUntried } from './tell.ts';

/** Origin of a result. */
export interface Settlement {
  /** `neither`: nothing matched, in either form. `untried`: nothing as written, and the other form failed. */
  outcome: 'written' | 'coerced' | 'neither' | 'untried';
  /** Strings of the other form, if it was tried. */
  strings: readonly ReadString[];
  /** Notes that the result must carry. */
  notes: string[];
}

export interface Settled<Form, Result> extends Settlement {
  result: Result;
  /** Form that produced it. */
  used: Form;
}

export interface FilterTrial<Result> {
  filter: Query;
  /** @param timeMs Time limit for the server's own work. */
  run(filter: Query, timeMs: number): Promise<Result>;
  isEmpty(result: Result): boolean;
  /**
   * Resolves with true when any document matches; null when an empty result already proves it, since nothing
   * is skipped.
   */
  matches: ((filter: Query, timeMs: number) => Promise<boolean>) | null;
  /** Time for the filter as written, and the same again for all that follows. */
  timeMs: number;
  signal?: AbortSignal | undefined;
}

export async function settleFilter<Result>(trial: FilterTrial<Result>): Promise<Settled<Query, Result>> {
  const { filter, run, isEmpty, matches, timeMs, signal } = trial;
  const written = { ...asWritten, result: await run(filter, timeMs), used: filter };
  const coerced = isEmpty(written.result) ? coerceFilter(filter) : null;
  if (coerced === null) return written;
  const { strings } = coerced;
  const leftMs = timeLeft(timeMs);
  try {
    if (matches && (await matches(filter, leftMs()))) return written;
    const result = await run(coerced.filter, leftMs());
    if (isEmpty(result)) return { ...written, outcome: 'neither', strings };
    const notes = [tellCoerced(strings, 'filter_dict')];
    return { result, used: coerced.filter, outcome: 'coerced', strings, notes };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ...written, outcome: 'untried', strings, notes: [tellUntried(strings, 'filter_dict', error)] };
  }
}

export const asWritten: Settlement = { outcome: 'written', strings: [], notes: [] };

/** Returns a function for the rest of a time that begins now; it throws once the time is over. */
export function timeLeft(timeMs: number): () => number {
  const end = performance.now() + timeMs;
  return () => {
    const left = Math.floor(end - performance.now());
    if (left < 1) throw tookTooLong();
    return left;
  };
}
