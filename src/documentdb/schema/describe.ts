/** Builds the schema from the counts. */
import type { FieldSchema, FieldType } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { aliasAt, type TypeAlias } from './bson-types.ts';
import { type DocumentStats, type FieldStats, nameOf } from './document-stats.ts';
import type { ElementStats } from './field-stats.ts';
import type { KnownValue } from './known-values.ts';
import { enumJson, exampleJson } from './value-json.ts';

const { examples: mostExamples } = limits.documents.schema;

const numericTypes: readonly TypeAlias[] = ['int', 'long', 'double', 'decimal'];
/** No query compares with these values, or their type already says everything. */
const withoutValues: readonly TypeAlias[] = ['array', 'null', 'undefined'];

/** A few values are an enum when each comes twice; more of them are probably personal names unless they come often. */
const fewValues = 10;
const timesOfFew = 2;
const timesOfMany = 10;

/** Returns fields in order of first appearance, those whose names are data last. */
export function describeFields(stats: DocumentStats, above = ''): FieldSchema[] {
  stats.lookForData();
  const fields = stats.fields.map((field) => describeField(field, stats.count, above));
  if (stats.data === null) return fields;
  const values = stats.data.types.reduce((sum, count) => sum + count, 0);
  return [
    ...fields,
    {
      ...describeField(stats.data, values, above),
      // A document with several of these from before they were recognized as data counts several times.
      probability: Math.min(1, stats.data.present / stats.count),
      keys: stats.dataNames,
      keyExamples: stats.nameExamples,
    },
  ];
}

/** @param places Number of places where the field could be. */
function describeField(field: FieldStats, places: number, above: string): FieldSchema {
  const path = above + nameOf(field);
  const types = typesOf(field.types, places, field.elements);
  const [min = 0, max = 0, total = 0] = field.lengths;
  const arrays = types.find(({ type }) => type === 'array')?.count ?? 0;
  const values = valueEnum(field);
  return {
    path,
    types,
    probability: field.present / places,
    examples: examplesOf([...field.values.enumerable.entries, ...field.values.other.entries]),
    ...(values ? { enum: values } : {}),
    ...(field.values.patterns.length > 0 ? { patterns: field.values.patterns } : {}),
    ...bounds(field),
    ...(arrays > 0 ? { arrayLength: { min, max, average: total / arrays } } : {}),
    ...(field.documents ? { fields: describeFields(field.documents, `${path}.`) } : {}),
  };
}

/** Returns the most frequent first. */
function typesOf(counts: Uint32Array, places: number, elements: ElementStats | null): FieldType[] {
  const types: FieldType[] = [];
  for (const [place, count] of counts.entries()) {
    if (count === 0) continue;
    const type = aliasAt(place);
    const inside = type === 'array' && elements ? { elements: typesOfElements(elements) } : {};
    types.push({ type, count, probability: count / places, ...inside });
  }
  return types.sort((a, b) => b.count - a.count);
}

function typesOfElements({ types, elements }: ElementStats): FieldType[] {
  const all = types.reduce((sum, count) => sum + count, 0);
  return typesOf(types, all, elements);
}

function examplesOf(values: readonly KnownValue[]): unknown[] {
  const found = new Map(
    values.map((value) => exampleJson(value)).map((json) => [JSON.stringify(json), json] as const),
  );
  return [...found.values()].filter((json) => json !== undefined && json !== '').slice(0, mostExamples);
}

/** Returns every value with its count, or null when the list may be incomplete or too long. */
function valueEnum(field: FieldStats): FieldSchema['enum'] | null {
  const { enumerable } = field.values;
  if (enumerable.full || enumerable.entries.length === 0) return null;
  const found = new Map<string, { value: unknown; count: number }>();
  let total = 0;
  for (const entry of enumerable.entries) {
    const value = enumJson(entry);
    const key = JSON.stringify(value);
    found.set(key, { value, count: entry.count + (found.get(key)?.count ?? 0) });
    total += entry.count;
  }
  const times = found.size <= fewValues ? timesOfFew : timesOfMany;
  if (total !== comparable(field) || total < found.size * times) return null;
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/** Returns the number of values that a query could compare with. */
function comparable(field: FieldStats): number {
  return sumOf(field, (type) => !withoutValues.includes(type));
}

function bounds({ types, elements, values }: FieldStats): { min?: unknown; max?: unknown } {
  const numbers = sumOf({ types, elements }, (type) => numericTypes.includes(type));
  const dates = sumOf({ types, elements }, (type) => type === 'date');
  return (numbers >= dates ? values.range.numbers() : values.range.dates()) ?? {};
}

/** Sums over the values in the field and in its arrays. */
function sumOf(
  { types, elements }: { types: Uint32Array; elements: ElementStats | null },
  counts: (type: TypeAlias) => boolean,
): number {
  let sum = 0;
  for (const [place, count] of types.entries()) if (count > 0 && counts(aliasAt(place))) sum += count;
  return sum + (elements ? sumOf(elements, counts) : 0);
}
