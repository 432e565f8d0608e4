/**
 * Explains a filter or a pipeline that selected nothing, in one to three lines: from its schema, or else from a few probes, as long
 * as these are cheap.
 */
import {
  type CollectionSchema,
  FILTER_PARAMETER,
  type FieldSchema,
  fieldAt,
} from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import { type Condition, conditionsOf } from './filter-walk.ts';
import type { Stage } from './leading-stages.ts';
import { mismatch } from './mismatches.ts';
import { type Ask, boundedProbe, type Probe } from './probe.ts';
import { isKnown, namedInFilter, unknownFields } from './unknown-fields.ts';
import { isDocument, kindOf, listed, listedAs, named, seenIn, show, showSeen } from './values.ts';

interface EmptyQuestion {
  filter: unknown;
  schema: CollectionSchema;
  probe: Probe;
  /** The caller's name for the filter. */
  parameter?: string | undefined;
  signal?: AbortSignal | undefined;
}

export async function explainEmpty(question: EmptyQuestion): Promise<string[]> {
  const { filter, schema, parameter = FILTER_PARAMETER } = question;
  if (schema.sampled === 0) return ['The collection had no documents when its schema was loaded.'];
  const known = suspects(filter, schema, parameter);
  if (known.length > 0) return known.slice(0, LINES);
  const ask = boundedProbe(question);
  const notes = await askedCulprits(conjunctsOf(filter), ask);
  return notes.slice(0, LINES).map((line) => `${parameter}: ${line}`);
}

const LINES = 3;

function suspects(filter: unknown, schema: CollectionSchema, parameter: string): string[] {
  const required = conditionsOf(filter)
    .filter((condition) => condition.required)
    .slice(0, limits.documents.hintedConditions);
  const notes = required.flatMap((one) => {
    const strange = mismatch(one, schema);
    return strange.length > 0 ? strange : (doubt(one, schema) ?? []);
  });
  const missing = required.filter((one) => isPositive(one) && !isKnown(schema, one.path));
  const unknown = namedInFilter(filter).filter((path) => missing.some((one) => one.path === path));
  return [
    ...notes.map((line) => `${parameter}: ${line}`),
    ...unknownFields(
      unknown.map((path) => ({ path, parameter })),
      schema,
    ),
  ];
}

/** Returns true for a condition that a document without the field cannot fulfil. */
function isPositive({ path, operator, value }: Condition): boolean {
  if (path === '' || value === null || (Array.isArray(value) && value.includes(null))) return false;
  return !['$ne', '$nin', '$exists'].includes(operator);
}

type Conjunct = Record<string, unknown>;

/** Probes each condition alone, and if all of them match, adds one more at a time: the culprit leaves nothing. */
async function askedCulprits(conjuncts: readonly Conjunct[], ask: Ask): Promise<string[]> {
  const [only] = conjuncts;
  if (only === undefined) return [];
  if (conjuncts.length === 1) return await otherCase(only, ask);
  const answers: (boolean | null)[] = [];
  for (const conjunct of conjuncts) answers.push(await ask([conjunct]));
  const alone = conjuncts.filter((_, index) => answers[index] === false);
  const [first] = alone;
  if (first !== undefined) {
    const reasons = await otherCase(first, ask);
    return [`no document matches ${alone.map(show).join(' nor ')}, whatever else is asked.`, ...reasons];
  }
  return answers.includes(null) ? [] : [await together(conjuncts, ask)];
}

async function together(conjuncts: readonly Conjunct[], ask: Ask): Promise<string> {
  let length = 2;
  let left: boolean | null = true;
  while (length < conjuncts.length && left === true) {
    left = await ask(conjuncts.slice(0, length));
    if (left === true) length++;
  }
  if (left === null) {
    return 'each of its conditions alone matches documents, but no document matches all of them.';
  }
  const before = conjuncts.slice(0, length - 1).map(show);
  const last = show(conjuncts[length - 1]);
  return `there are documents with ${before.join(' and ')}, and with ${last}, but none with both.`;
}

/** Finds a string that exists in another case. */
async function otherCase(conjunct: Conjunct, ask: Ask): Promise<string[]> {
  const [[path, value] = []] = Object.entries(conjunct);
  if (path === undefined || path.startsWith('$') || typeof value !== 'string') return [];
  if (value.length > limits.documents.noteValueChars || !/\p{L}/u.test(value)) return [];
  const $regex = `^${value.replace(/[^\p{L}\p{N}\s]/gu, '\\$&')}$`;
  const found = await ask([{ [path]: { $regex, $options: 'i' } }]);
  if (found !== true) return [];
  return [
    `${show(conjunct)} matches in another case only: comparison of strings is case-sensitive. Use ` +
      `{"$regex": …, "$options": "i"}, or the spelling that the documents have.`,
  ];
}

/** Splits a filter into conditions that must all hold. Operators on one field stay together: a range has two ends. */
function conjunctsOf(filter: unknown): Conjunct[] {
  if (!isDocument(filter)) return [];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (key === '$comment') return [];
    return key === '$and' && Array.isArray(value) ? value.flatMap(conjunctsOf) : [{ [key]: value }];
  });
}

/** Explains an empty pipeline: by the filter at its beginning, or else by a later stage that drops documents. */
interface FirstStages {
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

// Explains single conditions that may match nothing, by values seen before: other words, other case, out of range.

/** Returns null without evidence against it. */
export function doubt({ path, operator, value }: Condition, schema: CollectionSchema): string | null {
  const field = fieldAt(schema, path);
  if (field === null) return null;
  const seen = seenIn(schema);
  const values = operator === '$in' && Array.isArray(value) ? value : [value];
  if (operator === '$eq' || operator === '$in') {
    return otherWord(path, values, field, seen) ?? outside(path, operator, values, field, seen);
  }
  return outside(path, operator, values, field, seen);
}

function otherWord(
  path: string,
  values: readonly unknown[],
  field: FieldSchema,
  seen: string,
): string | null {
  const words = field.enum?.map((entry) => entry.value);
  const judged = values.filter((value) => kindOf(value) === 'string') as string[];
  if (words === undefined || judged.length < values.length || judged.length === 0) return null;
  if (judged.some((word) => words.includes(word))) return null;
  const said = `${named(path)} is never ${listedAs(judged, show)}${seen}`;
  const known = words.filter((word) => typeof word === 'string');
  const given = new Set(judged.map(folded));
  const same = known.filter((word) => given.has(folded(word)));
  if (same.length > 0) {
    return `${said}, but ${listedAs(same, showSeen)}: comparison of strings is case-sensitive and counts spaces.`;
  }
  const near = judged
    .slice(0, limits.documents.noteItems)
    .flatMap((word) => nearest(word, known, limits.documents.suggestions));
  const meant = [...new Set(near)].map(showSeen);
  if (meant.length > 0) return `${said}. Did you mean ${meant.join(' or ')}?`;
  return `${said}. Its values: ${listedAs(words, showSeen, limits.documents.noteItems * 2)}.`;
}

/** Decides by the signs of (given − min) and (given − max) that a bound excludes every seen value. */
const BEYOND = new Map<string, (min: number, max: number) => boolean>([
  ['$eq', (min, max) => min < 0 || max > 0],
  ['$in', (min, max) => min < 0 || max > 0],
  ['$gt', (_, max) => max >= 0],
  ['$gte', (_, max) => max > 0],
  ['$lt', (min) => min <= 0],
  ['$lte', (min) => min < 0],
]);

function outside(
  path: string,
  operator: string,
  values: readonly unknown[],
  { min, max }: FieldSchema,
  seen: string,
): string | null {
  const isBeyond = BEYOND.get(operator);
  const [low, high] = [order(min), order(max)];
  if (isBeyond === undefined || low === null || high === null || values.length === 0) return null;
  const beyond = values.map(order).every((one) => {
    return one?.kind === low.kind && isBeyond(Math.sign(one.at - low.at), Math.sign(one.at - high.at));
  });
  if (!beyond) return null;
  return `${named(path)} goes from ${showSeen(min)} to ${showSeen(max)}${seen}; ${operator} ${listedAs(values, show)} is outside.`;
}

interface Place {
  kind: 'number' | 'date';
  at: number;
}

/** Orders values of a filter and those of a schema, which are plain JSON, alike. */
function order(value: unknown): Place | null {
  const place = placeOf(value);
  return place !== null && Number.isFinite(place.at) ? place : null;
}

function placeOf(value: unknown): Place | null {
  if (typeof value === 'number') return { kind: 'number', at: value };
  if (value instanceof Date) return { kind: 'date', at: value.getTime() };
  if (kindOf(value) === 'number') return { kind: 'number', at: Number(String(value)) };
  if (!isDocument(value)) return null;
  const number =
    value['$numberLong'] ?? value['$numberDecimal'] ?? value['$numberDouble'] ?? value['$numberInt'];
  if (number !== undefined) return { kind: 'number', at: Number(number) };
  const date = value['$date'];
  if (typeof date === 'string') return { kind: 'date', at: Date.parse(date) };
  return date === undefined ? null : { kind: 'date', at: placeOf(date)?.at ?? Number.NaN };
}

function folded(word: string): string {
  return word.trim().toLowerCase();
}
