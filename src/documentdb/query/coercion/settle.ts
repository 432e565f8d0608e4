/**
 * Runs a filter as written. Only when it matches nothing, the form is tried in which its strings are also compared as
 * the types that they look like; the result says so. A failure of that form leaves the result as written.
 */
import { FILTER_PARAMETER } from '../../../model/document-schema.ts';
import { tookTooLong } from '../../connection/faults.ts';
import type { Stage } from '../../hints/leading-stages.ts';
import { isDocument } from '../../hints/values.ts';
import { type CoercedFilter, coerceFilter, type Query } from './coerce-filter.ts';
import { type ReadString, tellCoerced, tellUntried } from './read-values.ts';

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
    const notes = [tellCoerced(strings, FILTER_PARAMETER)];
    return { result, used: coerced.filter, outcome: 'coerced', strings, notes };
  } catch (error) {
    if (signal?.aborted) throw error;
    return {
      ...written,
      outcome: 'untried',
      strings,
      notes: [tellUntried(strings, FILTER_PARAMETER, error)],
    };
  }
}

export const asWritten: Settlement = { outcome: 'written', strings: [], notes: [] };

/** Returns a function for the rest of a time that begins now; it throws once the time is over. */
function timeLeft(timeMs: number): () => number {
  const end = performance.now() + timeMs;
  return () => {
    const left = Math.floor(end - performance.now());
    if (left < 1) throw tookTooLong();
    return left;
  };
}

type Stages = readonly Stage[];

/**
 * Settles the $match stages of a pipeline, one after another: each runs as written, on the output of the stages
 * before it, and only one that lets nothing through is tried in its other form.
 */
interface PipelineTrial<Result> {
  stages: Stages;
  /** @param timeMs Time limit for the server's own work. */
  run(stages: Stages, timeMs: number): Promise<Result>;
  isEmpty(result: Result): boolean;
  /** Resolves with true when the stages yield any document. */
  finds(stages: Stages, timeMs: number): Promise<boolean>;
  /** Time for the pipeline as written, and the same again for all further queries. */
  timeMs: number;
  signal?: AbortSignal | undefined;
}

export async function settlePipeline<Result>(trial: PipelineTrial<Result>): Promise<Settled<Stages, Result>> {
  const { stages, run, isEmpty, timeMs } = trial;
  const matches = stages.flatMap((stage, index) => {
    const coerced = nameOf(stage) === '$match' ? coerceFilter(stage['$match']) : null;
    return coerced ? [{ ...coerced, index }] : [];
  });
  const [first] = matches;
  if (first && stages.slice(first.index + 1).some((stage) => MAKE_DOCUMENTS.has(nameOf(stage)))) {
    // Its result does not show the output of the $match.
    const choice = await choose({ ...trial, matches, isEmpty: false, leftMs: timeLeft(timeMs) });
    return { ...choice, result: await run(choice.used, timeMs) };
  }
  const result = await run(stages, timeMs);
  if (!first || !isEmpty(result)) return { ...asWritten, used: stages, result };
  const leftMs = timeLeft(timeMs);
  const choice = await choose({ ...trial, matches, isEmpty: true, leftMs });
  if (choice.outcome !== 'coerced') return { ...choice, result };
  return { ...choice, result: await run(choice.used, leftMs()) };
}

interface Match extends CoercedFilter {
  index: number;
}

interface Choosing extends Pick<PipelineTrial<unknown>, 'stages' | 'finds' | 'signal'> {
  matches: readonly Match[];
  /** True when the whole pipeline yielded nothing. */
  isEmpty: boolean;
  leftMs: () => number;
}

async function choose({ stages, matches, isEmpty, finds, leftMs, signal }: Choosing) {
  const written = { ...asWritten, used: stages };
  let choice: Settlement & { used: Stages } = written;
  for (const { index, filter, strings } of matches) {
    const parameter = `pipeline[${index}]`;
    const upTo = (form: Stages) => finds(form.slice(0, index + 1), leftMs());
    try {
      const isKnownEmpty =
        isEmpty &&
        choice === written &&
        stages.slice(index + 1).every((stage) => KEEP_SOME.has(nameOf(stage)));
      if (!isKnownEmpty && (await upTo(choice.used))) continue;
      const used = choice.used.with(index, { $match: filter });
      if (!(await upTo(used))) return { ...written, outcome: 'neither', strings } as const;
      const notes = [...choice.notes, tellCoerced(strings, parameter)];
      choice = { used, outcome: 'coerced', strings: [...choice.strings, ...strings], notes };
    } catch (error) {
      if (signal?.aborted) throw error;
      const notes = [tellUntried(strings, parameter, error)];
      return { ...written, outcome: 'untried', strings, notes } as const;
    }
  }
  return choice;
}

/** These yield documents even from none. */
const MAKE_DOCUMENTS = new Set(['$facet', '$unionWith', '$densify']);

/** These yield a document whenever one arrives. */
const KEEP_SOME = new Set([
  '$addFields',
  '$bucketAuto',
  '$count',
  '$fill',
  '$graphLookup',
  '$group',
  '$limit',
  '$lookup',
  '$project',
  '$replaceRoot',
  '$replaceWith',
  '$set',
  '$setWindowFields',
  '$sort',
  '$sortByCount',
  '$unset',
]);

function nameOf(stage: unknown): string {
  return isDocument(stage) ? (Object.keys(stage)[0] ?? '') : '';
}
