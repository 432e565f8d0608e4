/**
 * A filter runs as written. Only where it matches nothing is the form tried in which its strings are compared as what they
 * look like too; the result says so. What a failure of that form costs is only itself.
 */
import { tookTooLong } from '../../connection/faults.ts';
import { coerceFilter, type Query } from './coerce-filter.ts';
import type { ReadString } from './read-values.ts';
import { tellCoerced, tellUntried } from './tell.ts';

/** How a result came about. */
export interface Settlement {
  /** `neither`: nothing matched, in either form. `untried`: nothing as written, and the other form failed. */
  outcome: 'written' | 'coerced' | 'neither' | 'untried';
  /** Those that the other form read, where it was tried. */
  strings: readonly ReadString[];
  /** What the result must say. */
  notes: string[];
}

export interface Settled<Form, Result> extends Settlement {
  result: Result;
  /** What gave it. */
  used: Form;
}

export interface FilterTrial<Result> {
  filter: Query;
  /** @param timeMs What the server may work on it. */
  run(filter: Query, timeMs: number): Promise<Result>;
  isEmpty(result: Result): boolean;
  /** Whether any document matches; null where an empty result says so itself, since nothing is skipped. */
  matches: ((filter: Query, timeMs: number) => Promise<boolean>) | null;
  /** For the filter as written, and the same again for all that follows. */
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

/** What is left of a time that begins now; fails once it is over. */
export function timeLeft(timeMs: number): () => number {
  const end = performance.now() + timeMs;
  return () => {
    const left = Math.floor(end - performance.now());
    if (left < 1) throw tookTooLong();
    return left;
  };
}
