/** Explains an empty pipeline: by the filter at its beginning, or else by a later stage that drops documents. */
import { conditionsOf } from './filter-walk.ts';
import type { Stage } from './leading-stages.ts';
import { boundedProbe } from './probe.ts';
import { isDocument, listed } from './values.ts';
import { type EmptyQuestion, explainEmpty } from './why-empty.ts';

export interface FirstStages {
  /** Conjunction of the leading $match stages; null when the pipeline begins with none. */
  filter: Record<string, unknown> | null;
  /** The caller's name for the filter. */
  parameter: string;
  sort: string[];
  sortParameter: string;
  /** Index of the first stage that neither chooses nor orders. */
  end: number;
}

/** Extracts the part that a server runs like a find. */
export function firstStages(stages: readonly unknown[]): FirstStages {
  const end = stages.findIndex((stage) => !['$match', '$sort'].includes(nameOf(stage)));
  const first = stages.slice(0, end === -1 ? stages.length : end);
  const matches = first.flatMap((stage, index) => (nameOf(stage) === '$match' ? [index] : []));
  const sortAt = first.findIndex((stage) => nameOf(stage) === '$sort');
  const filters = matches.map((index) => (stages[index] as Stage)['$match'] as Record<string, unknown>);
  const sort = sortAt === -1 ? undefined : (stages[sortAt] as Stage)['$sort'];
  return {
    filter: filters.length > 1 ? { $and: filters } : (filters[0] ?? null),
    parameter: matches.length === 1 ? `pipeline[${matches[0]}]` : 'pipeline',
    sort: isDocument(sort) ? Object.keys(sort) : [],
    sortParameter: `pipeline[${sortAt}]`,
    end: first.length,
  };
}

export async function explainEmptyPipeline(
  stages: readonly unknown[],
  question: Omit<EmptyQuestion, 'filter' | 'parameter'>,
): Promise<string[]> {
  const { filter, parameter, end } = firstStages(stages);
  if (question.schema.sampled === 0) return await explainEmpty({ ...question, filter });
  const choosing = stages.flatMap((stage, index) =>
    index >= end && LETS_GO.has(nameOf(stage)) ? [`pipeline[${index}] (${nameOf(stage)})`] : [],
  );
  if (choosing.length > 0) {
    const some = filter === null || conditionsOf(filter).length === 0;
    if (some || (await boundedProbe(question)([filter])) === true) {
      return [
        `${some ? 'The collection has documents' : `${parameter} matches documents`}; none is left by ${listed(choosing)}.`,
      ];
    }
  }
  return filter === null ? [] : await explainEmpty({ ...question, filter, parameter });
}

/** Stages that may turn some documents into none. */
const LETS_GO = new Set(['$match', '$unwind', '$skip', '$redact', '$geoNear', '$search']);

function nameOf(stage: unknown): string {
  return isDocument(stage) ? (Object.keys(stage)[0] ?? '') : '';
}
