/** Details of a field beyond its existence, in the order of their value for writing a query. */
import type { FieldSchema, FieldType } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';

const { shownEnumBytes } = limits.documents.schema;

/** Types, not interfaces, since the tool's output has keys that its schema does not list. */
export type TypeView = {
  type: string;
  count: number;
  probability: number;
  /** Counts of an array's elements by type: `{"string":995}`; `array.int` counts those of arrays inside it. */
  elements?: Record<string, number>;
};

export type FieldView = {
  path: string;
  keys?: number;
  key_examples?: string[];
  types: TypeView[];
  probability: number;
  examples: unknown[];
  /** Shapes of its strings, where it holds other types too: runs of digits are a 9. */
  patterns?: string[];
  enum?: unknown[];
  /** Counts of the values in `enum`, in their order. */
  enum_counts?: number[];
  min?: unknown;
  max?: unknown;
  array_length?: { min: number; max: number; average: number };
  fields?: FieldView[];
};

export interface FieldDetail {
  view: FieldView;
  /** Priority: the first holds what a query can hardly do without, the last the merely useful. */
  round: number;
  /** Keys of the view that it sets. */
  part: Partial<FieldView>;
}

type Part = Omit<FieldDetail, 'view'>;

/** Rounds whose parts count as missing when there is no room for them. */
const missedRounds = 3;
/** Longer ones, as JSON, wait for the third round. */
const shortEnumBytes = 64;
const shortExampleChars = 24;

/** Returns the required keys of a field. */
export function withoutDetails({ path, types, probability, keys }: FieldSchema): FieldView {
  return {
    path,
    ...(keys === undefined ? {} : { keys }),
    types: types.map(typeView),
    probability: rounded(probability),
    examples: [],
  };
}

/**
 * Returns the optional parts of a field. An enum replaces examples and bounds; bounds replace examples of numbers and
 * dates.
 */
export function detailsOf(field: FieldSchema, view: FieldView): FieldDetail[] {
  const values = enumParts(field);
  const parts = [
    ...keyParts(field),
    ...(values ?? [...patternParts(field), ...rangeParts(field), ...exampleParts(field)]),
    ...lengthParts(field),
  ];
  return parts.map((part) => ({ view, ...part }));
}

/**
 * Adds parts while there is room: round by round, and the cheapest first in each, so that most fields get some. Returns
 * the number of fields that miss some.
 */
export function addDetails(details: readonly FieldDetail[], bytes: number): number {
  let room = bytes;
  const cut = new Set<FieldView>();
  const priced = details.map((detail) => ({ ...detail, price: growthOf(detail.view, detail.part) }));
  for (const { view, round, part } of priced.sort((a, b) => a.round - b.round || a.price - b.price)) {
    if (part.enum_counts && !view.enum) continue;
    const growth = growthOf(view, part);
    if (growth <= room) {
      put(view, part);
      room -= growth;
    } else if (round <= missedRounds) {
      cut.add(view);
    }
  }
  return cut.size;
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function growthOf(view: FieldView, part: Partial<FieldView>): number {
  let growth = 0;
  for (const key of Object.keys(part) as (keyof FieldView)[]) {
    const before = view[key] === undefined ? 0 : bytesOf({ [key]: view[key] });
    // A new key has a comma before it and stands in the field's own braces.
    growth += bytesOf({ [key]: part[key] }) - (before || '{}'.length - ','.length);
  }
  return growth;
}

/** Keeps `fields` last, so that it does not separate a field from its details. */
function put(view: FieldView, part: Partial<FieldView>): void {
  const { fields } = view;
  delete view.fields;
  Object.assign(view, part);
  if (fields) view.fields = fields;
}

function keyParts({ keyExamples = [] }: FieldSchema): Part[] {
  if (keyExamples.length === 0) return [];
  return [
    { round: 1, part: { key_examples: keyExamples.slice(0, 1) } },
    { round: 5, part: { key_examples: keyExamples } },
  ];
}

/** Returns null without an enum, or with one too long to show. */
function enumParts({ enum: known, types, min, max }: FieldSchema): Part[] | null {
  if (!known) return null;
  const values = known.map(({ value }) => value);
  const bytes = bytesOf(values);
  if (bytes > shownEnumBytes) return null;
  const counts = { round: 4, part: { enum_counts: known.map(({ count }) => count) } };
  // Bools and numbers are mostly described by their type or their bounds.
  if (values.length > 1 && types.every(({ type }) => type === 'bool' || type === 'null')) {
    return [{ round: 4, part: { enum: values } }, counts];
  }
  if (values.length > 2 && values.every((value) => typeof value === 'number')) {
    return [{ round: 2, part: { min, max } }, { round: 4, part: { enum: values } }, counts];
  }
  return [{ round: bytes <= shortEnumBytes ? 1 : 3, part: { enum: values } }, counts];
}

function patternParts({ patterns }: FieldSchema): Part[] {
  return patterns ? [{ round: 2, part: { patterns } }] : [];
}

/** Shortens the bounds of dates to the day at first. */
function rangeParts({ min, max }: FieldSchema): Part[] {
  if (min === undefined) return [];
  const [first, last] = [dayOf(min), dayOf(max)];
  const exact = { min, max };
  if (first === null || last === null) return [{ round: 2, part: exact }];
  return [
    { round: 2, part: { min: first, max: last } },
    { round: 4, part: exact },
  ];
}

function exampleParts({ examples, min, types }: FieldSchema): Part[] {
  const isId = types.every(({ type }) => type === 'objectId' || type === 'binData' || type === 'null');
  if (isId) return examples.length > 0 ? [{ round: 6, part: { examples: examples.slice(0, 1) } }] : [];
  // Beside bounds, shows only examples that the bounds do not show.
  const shown = min === undefined ? examples : examples.filter((example) => typeof example === 'string');
  const [first] = shown;
  if (first === undefined) return [];
  return [
    { round: 2, part: { examples: [typeof first === 'string' ? shortened(first) : first] } },
    ...shown.map((_, index) => ({ round: index + 4, part: { examples: shown.slice(0, index + 1) } })),
  ];
}

function lengthParts({ arrayLength }: FieldSchema): Part[] {
  if (!arrayLength) return [];
  const { min, max, average } = arrayLength;
  return [{ round: 3, part: { array_length: { min, max, average: Math.round(average * 100) / 100 } } }];
}

function dayOf(date: unknown): string | null {
  const text = (date as { $date?: unknown } | null)?.$date;
  return typeof text === 'string' ? text.slice(0, 'yyyy-mm-dd'.length) : null;
}

function shortened(text: string): string {
  const chars = [...text];
  return chars.length <= shortExampleChars ? text : `${chars.slice(0, shortExampleChars - 1).join('')}…`;
}

function typeView({ type, count, probability, elements }: FieldType): TypeView {
  const inside =
    elements && elements.length > 0 ? { elements: Object.fromEntries(elementCounts(elements)) } : {};
  return { type, count, probability: rounded(probability), ...inside };
}

function elementCounts(elements: readonly FieldType[], around = ''): [string, number][] {
  return elements.flatMap(({ type, count, elements = [] }) => [
    [`${around}${type}`, count],
    ...elementCounts(elements, `${around}${type}.`),
  ]);
}

/** Rounds to three digits, but never down to 0 (never) or up to 1 (always). */
function rounded(probability: number): number {
  if (probability <= 0 || probability >= 1) return probability;
  return Math.min(0.999, Math.max(0.001, Math.round(probability * 1000) / 1000));
}
