/**
 * What makes queries forgiving: values are read as the schema says they are meant, and what is doubtful, slow or empty is
 * explained. Without a schema nothing is known, so nothing is changed or said.
 *
 * Before a query is sent: `prepareFind` (for counts too) or `prepareAggregate`. After it: `adviseAfter`, or `notesOf`
 * where the result is not waited for.
 */
import type { CollectionSchema } from '../../model/document-schema.ts';
import { coerceFilter, coercePipeline } from './coerce.ts';
import { indexNotes } from './index-use.ts';
import type { Stage } from './leading-stages.ts';
import { mismatches } from './mismatches.ts';
import { namedInFind, namedInPipeline } from './named-fields.ts';
import { type Advice, arrangeNotes, noAdvice } from './notes.ts';
import type { Probe } from './probe.ts';
import { unknownFields } from './unknown-fields.ts';
import { explainEmpty } from './why-empty.ts';
import { explainEmptyPipeline, firstStages } from './why-pipeline-empty.ts';

export type Filter = Record<string, unknown>;

export interface FindQuestion {
  filter: Filter;
  projection?: Filter | undefined;
  /** Its fields, the first one first. */
  sort?: readonly string[] | undefined;
  schema: CollectionSchema | null;
}

export interface PreparedFind {
  /** What to send: the very filter given where nothing had to be changed. */
  filter: Filter;
  advice: Advice;
}

export function prepareFind({ filter, projection, sort, schema }: FindQuestion): PreparedFind {
  if (schema === null) return { filter, advice: noAdvice };
  const coerced = coerceFilter(filter, schema);
  const named = namedInFind({ filter: coerced.filter, projection, sort });
  const advice = {
    changed: coerced.notes,
    doubtful: [...mismatches(coerced.filter, schema, 'filter_dict'), ...unknownFields(named, schema)],
    slow: indexNotes({ filter: coerced.filter, sort, schema }),
  };
  return { filter: coerced.filter, advice };
}

export interface PreparedPipeline {
  stages: readonly Stage[];
  advice: Advice;
}

export function prepareAggregate(
  stages: readonly Stage[],
  schema: CollectionSchema | null,
): PreparedPipeline {
  if (schema === null) return { stages, advice: noAdvice };
  const coerced = coercePipeline(stages, schema);
  const { filter, parameter, sort, sortParameter } = firstStages(coerced.stages);
  const doubtful = filter === null ? [] : mismatches(filter, schema, parameter);
  const advice = {
    changed: coerced.notes,
    doubtful: [...doubtful, ...unknownFields(namedInPipeline(coerced.stages), schema)],
    slow: indexNotes({ filter, parameter, sort, sortParameter, schema }),
  };
  return { stages: coerced.stages, advice };
}

export interface AfterQuestion {
  prepared: PreparedFind | PreparedPipeline;
  /** Nothing was found, though nothing was skipped either. */
  empty: boolean;
  schema: CollectionSchema | null;
  probe: Probe;
  signal?: AbortSignal | undefined;
}

export async function adviseAfter({ prepared, empty, schema, ...asking }: AfterQuestion): Promise<string[]> {
  if (!empty || schema === null) return notesOf(prepared.advice);
  const question = { schema, ...asking };
  const reasons =
    'stages' in prepared
      ? await explainEmptyPipeline(prepared.stages, question)
      : await explainEmpty({ ...question, filter: prepared.filter });
  return notesOf(prepared.advice, reasons);
}

export function notesOf({ changed, doubtful, slow }: Advice, reasons: readonly string[] = []): string[] {
  return arrangeNotes(changed, reasons, doubtful, slow);
}
