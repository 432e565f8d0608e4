/**
 * Sends queries that only explain a result: few, short, and none that would read a large collection.
 *
 * Invariant: an answer takes at most the time left for all of them, even on a silent server.
 */
import { within } from '../../concurrency/deadline.ts';
import type { CollectionSchema } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { indexesOf, isNarrowed } from './index-use.ts';

/** Resolves with true when any document matches; null after the time given, or without an answer. */
export type Probe = (filter: Record<string, unknown>, timeoutMs: number) => Promise<boolean | null>;

/** Resolves with true when any document fulfils all of these; null when it was not asked or not answered in time. */
export type Ask = (conjuncts: readonly Record<string, unknown>[]) => Promise<boolean | null>;

interface Bounds {
  schema: CollectionSchema;
  probe: Probe;
  signal?: AbortSignal | undefined;
}

export function boundedProbe({ schema, probe, signal }: Bounds): Ask {
  const { probeTimeMs, probedDocuments } = limits.documents;
  // A view has no document count, and the indexes beneath it are unknown.
  const isCollection = schema.type === 'collection';
  const isSmall = isCollection && (schema.documentCount ?? Number.POSITIVE_INFINITY) <= probedDocuments;
  const indexes = isCollection ? indexesOf(schema) : [];
  const end = performance.now() + probeTimeMs;
  let left: number = limits.documents.probes;
  return async (conjuncts) => {
    const filter = conjuncts.length === 1 ? (conjuncts[0] ?? {}) : { $and: conjuncts };
    const timeoutMs = Math.floor(end - performance.now());
    if (left === 0 || timeoutMs < 1 || signal?.aborted) return null;
    if (!isSmall && !isNarrowed(filter, indexes)) return null;
    left--;
    // A failed probe explains nothing; the result itself stays good.
    const ask = async () => probe(filter, timeoutMs);
    const answer = ask().catch(() => null);
    return await within(timeoutMs, answer, () => {
      // Stops probing after the first timeout: a timer may fire a moment before its time, which leaves some.
      left = 0;
      return null;
    });
  };
}
