/** What can be said of a field beyond that it is there, in the order of what tells a query's writer most. */
import type { FieldSchema, FieldType } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';

const { shownEnumBytes } = limits.documents.schema;

/** Types, not interfaces, since the tool's output has keys that its schema does not list. */
export type TypeView = {
  type: string;
  count: number;
  probability: number;
  elements?: TypeView[];
};

export type FieldView = {
  path: string;
  keys?: number;
  key_examples?: string[];
  types: TypeView[];
  probability: number;
  examples: unknown[];
  enum?: unknown[];
  /** Of the values in `enum`, in their order. */
  enum_counts?: number[];
  min?: unknown;
  max?: unknown;
  array_length?: { min: number; max: number; average: number };
  fields?: FieldView[];
};

export interface FieldDetail {
  view: FieldView;
  /** In the first what a query hardly does without; in the last what is nice to see. */
  round: number;
  part: Partial<FieldView>;
  bytes: number;
}

type Part = [round: number, part: Partial<FieldView>];

/** Rounds whose parts are missed when there is no room for them. */
const missedRounds = 2;
/** What is longer as JSON waits for the second round. */
const shortEnumBytes = 60;
const shortExampleBytes = 30;

/** What every field says. */
export function withoutDetails({ path, types, probability, keys }: FieldSchema): FieldView {
  return {
    path,
    ...(keys === undefined ? {} : { keys }),
    types: types.map(typeView),
    probability: rounded(probability),
    examples: [],
  };
}

/** An enum says what examples and bounds would, and bounds what examples of numbers and dates would. */
export function detailsOf(field: FieldSchema, view: FieldView): FieldDetail[] {
  const values = enumParts(field);
  const parts = [
    ...keyParts(field),
    ...(values ?? [...rangeParts(field), ...exampleParts(field)]),
    ...lengthParts(field),
  ];
  // A part stands in the field's braces behind a comma.
  return parts.map(([round, part]) => ({
    view,
    round,
    part,
    bytes: bytesOf(part) - '{}'.length + ','.length,
  }));
}

/**
 * Puts in what there is room for: round by round, and in each what costs least first, so that every field gets
 * something. Gives how many fields miss something.
 */
export function addDetails(details: readonly FieldDetail[], bytes: number): number {
  let room = bytes;
  const cut = new Set<FieldView>();
  for (const { view, round, part, bytes } of details.toSorted(
    (a, b) => a.round - b.round || a.bytes - b.bytes,
  )) {
    if (part.enum_counts && !view.enum) continue;
    if (bytes <= room) {
      put(view, part);
      room -= bytes;
    } else if (round <= missedRounds) {
      cut.add(view);
    }
  }
  return cut.size;
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/** What is inside stays last, where it does not stand between a field and what is said of it. */
function put(view: FieldView, { examples = [], ...part }: Partial<FieldView>): void {
  view.examples.push(...examples);
  const { fields } = view;
  delete view.fields;
  Object.assign(view, part);
  if (fields) view.fields = fields;
}

function keyParts({ keyExamples = [] }: FieldSchema): Part[] {
  return keyExamples.length > 0 ? [[1, { key_examples: keyExamples }]] : [];
}

/** null where there is no enum, or one too long to be shown. */
function enumParts({ enum: known, types }: FieldSchema): Part[] | null {
  if (!known) return null;
  const values = known.map(({ value }) => value);
  const bytes = bytesOf(values);
  if (bytes > shownEnumBytes) return null;
  // That a bool is true or false says its type.
  const isKnownAnyway = values.length === 2 && types.every(({ type }) => type === 'bool' || type === 'null');
  const round = isKnownAnyway ? 3 : bytes <= shortEnumBytes ? 1 : 2;
  return [
    [round, { enum: values }],
    [3, { enum_counts: known.map(({ count }) => count) }],
  ];
}

function rangeParts({ min, max }: FieldSchema): Part[] {
  return min === undefined ? [] : [[1, { min, max }]];
}

function exampleParts({ examples, min, types }: FieldSchema): Part[] {
  const isId = types.every(({ type }) => type === 'objectId' || type === 'binData' || type === 'null');
  if (isId) return examples.slice(0, 1).map((example) => [5, { examples: [example] }]);
  // Beside bounds only what these do not show.
  const shown = min === undefined ? examples : examples.filter((example) => typeof example === 'string');
  return shown.map((example, index) => {
    const round = index === 0 ? (bytesOf(example) <= shortExampleBytes ? 1 : 2) : index + 3;
    return [round, { examples: [example] }];
  });
}

function lengthParts({ arrayLength }: FieldSchema): Part[] {
  if (!arrayLength) return [];
  const { min, max, average } = arrayLength;
  return [[2, { array_length: { min, max, average: Math.round(average * 100) / 100 } }]];
}

function typeView({ type, count, probability, elements }: FieldType): TypeView {
  const inside = elements && elements.length > 0 ? { elements: elements.map(typeView) } : {};
  return { type, count, probability: rounded(probability), ...inside };
}

/** To three digits; but what is sometimes there is not never, and what is sometimes missing is not always. */
function rounded(probability: number): number {
  if (probability <= 0 || probability >= 1) return probability;
  return Math.min(0.999, Math.max(0.001, Math.round(probability * 1000) / 1000));
}
