/**
 * Collects the notes of a query: changed, doubtful, slow or empty parts are explained. Nothing here decides a result.
 * Without a schema, and for a vast query, notes report only changes.
 */
import { type CollectionSchema, FILTER_PARAMETER } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { conditionsOf } from '../hints/filter-walk.ts';
import { indexNotes } from '../hints/index-use.ts';
import type { Stage } from '../hints/leading-stages.ts';
import { mismatches, strangeInStages } from '../hints/mismatches.ts';
import type { Probe } from '../hints/probe.ts';
import { meantFilter, meantPipeline } from '../hints/text-values.ts';
import { namedInFind, namedInPipeline, unknownFields } from '../hints/unknown-fields.ts';
import { cut } from '../hints/values.ts';
import { explainEmpty, explainEmptyPipeline, firstStages } from '../hints/why-empty.ts';
import { tellNeither } from './coercion/read-values.ts';
import type { Settlement } from './coercion/settle.ts';

export type Filter = Record<string, unknown>;

interface Question {
  settlement: Settlement;
  /** No document was found, though none was skipped. */
  empty: boolean;
  schema: CollectionSchema | null;
  probe: Probe;
  signal?: AbortSignal | undefined;
}

export interface FindQuestion extends Question {
  /** As the caller wrote it. */
  filter: Filter;
  projection?: Filter | undefined;
  /** Sort fields, the first one first. */
  sort?: readonly string[] | undefined;
}

export async function adviseFind(question: FindQuestion): Promise<string[]> {
  const { filter, projection, sort, schema, settlement, empty } = question;
  if (schema === null || isVast([filter])) return settlement.notes;
  const meant = wasRead(settlement) ? meantFilter(filter, schema) : filter;
  const reasons = empty ? await explainEmpty({ ...question, schema, filter: meant }) : [];
  const doubtful = [
    ...mismatches(meant, schema, FILTER_PARAMETER),
    ...unknownFields(namedInFind({ filter: meant, projection, sort }), schema),
  ];
  const changed = [...settlement.notes, ...neither(settlement, FILTER_PARAMETER, meant !== filter && empty)];
  return arrangeNotes(changed, reasons, doubtful, indexNotes({ filter: meant, sort, schema }));
}

export interface PipelineQuestion extends Question {
  /** As the caller wrote them. */
  stages: readonly Stage[];
  /** Stages that produced the result. */
  used: readonly Stage[];
}

export async function advisePipeline(question: PipelineQuestion): Promise<string[]> {
  const { stages, used, schema, settlement, empty } = question;
  if (schema === null || isVast(stages.map((stage) => stage['$match']))) return settlement.notes;
  const meant = wasRead(settlement) ? meantPipeline(stages, schema) : stages;
  const explained = settlement.outcome === 'coerced' ? used : meant;
  const reasons = empty ? await explainEmptyPipeline(explained, { ...question, schema }) : [];
  const { filter, parameter, sort, sortParameter } = firstStages(meant);
  const doubtful = [
    ...(filter === null ? [] : mismatches(filter, schema, parameter)),
    ...strangeInStages(meant, schema),
    ...unknownFields(namedInPipeline(meant), schema),
  ];
  const changed = [...settlement.notes, ...neither(settlement, 'pipeline', meant !== stages && empty)];
  const slow = indexNotes({ filter, parameter, sort, sortParameter, schema });
  return arrangeNotes(changed, reasons, doubtful, slow);
}

/** @param filters Filter of each stage of a pipeline; undefined for one that is no $match. */
function isVast(filters: readonly unknown[]): boolean {
  const { explainedConditions, explainedStages } = limits.documents;
  if (filters.length > explainedStages) return true;
  const conditions = filters.reduce<number>((sum, filter) => sum + conditionsOf(filter).length, 0);
  return conditions > explainedConditions;
}

/** The other meaning of its strings was already queried, so they need no warning. */
function wasRead({ outcome }: Settlement): boolean {
  return outcome === 'coerced' || outcome === 'neither';
}

/** @param isMeant True when a field holds the type that a string was read as. */
function neither({ outcome, strings }: Settlement, parameter: string, isMeant: boolean): string[] {
  return outcome === 'neither' && isMeant ? [tellNeither(strings, parameter)] : [];
}

/**
 * Arranges the notes of one result: few, short, without duplicates, and changes of meaning first. Keeps the order of
 * the groups; a later group's duplicates are left out.
 */
export function arrangeNotes(...groups: readonly (readonly string[])[]): string[] {
  const { notes, noteChars } = limits.documents;
  const said = [...new Set(groups.flat().map((note) => cut(note, noteChars)))];
  if (said.length <= notes) return said;
  return [...said.slice(0, notes - 1), `${said.length - notes + 1} more notes were left out.`];
}
