/**
 * Collections of a document database, the shape of their documents as far as a sample shows it, and a field of that shape by
 * its path.
 */

/** The catalogue's name for a filter, by which the errors and hints of the adapter speak of it. */
export const FILTER_PARAMETER = 'filter_dict';

export interface CollectionName {
  database: string;
  collection: string;
}

export type CollectionType = 'collection' | 'view' | 'timeseries';

export interface IndexInfo {
  name: string;
  /** Kind by field: 1, -1, or the kind of index (`text`, `2dsphere`, `hashed` …). */
  key: Record<string, number | string>;
  unique: boolean;
  sparse?: boolean;
  /** Seconds after the time in the field at which the server deletes a document. */
  expireAfterSeconds?: number;
  /** true: it holds only documents that match a filter. */
  partial?: boolean;
}

/** A BSON type's alias: int, long, double, decimal, objectId, date, string, object, array, bool, null … */
export interface FieldType {
  type: string;
  count: number;
  /** Share of this type among the places where the field could be: 0 to 1. */
  probability: number;
  /** Types of the elements of an `array`, by number of elements; their probability is of all elements. */
  elements?: FieldType[];
}

/**
 * A field, or all the fields at one path. Facts about values (examples, enum, min, max) include those in its arrays,
 * since a query of the path finds both.
 *
 * Values are plain JSON values, parsed from relaxed Extended JSON.
 */
export interface FieldSchema {
  /**
   * Path from the document's root, with dots; fields of an array's documents have the array's own path before them. The
   * last segment is `<key>` where the names are data: then `keys` is set.
   */
  path: string;
  types: FieldType[];
  /**
   * Share of the surrounding documents with the field: 0 to 1. Inside of arrays these are their documents. Where names
   * are data, the share of documents with any of them.
   */
  probability: number;
  /** A few distinct values; long texts are cut, with an ellipsis at the end. */
  examples: unknown[];
  /** Shapes of strings, such as `9.9 kg`, most frequent first, where the field holds other types too. */
  patterns?: string[];
  /** All values (but null) with their counts, most frequent first, when they are few. */
  enum?: { value: unknown; count: number }[];
  /** Bounds of its numbers or of its dates, the more frequent of the two. */
  min?: unknown;
  max?: unknown;
  arrayLength?: { min: number; max: number; average: number };
  /** Number of distinct names, where the names are data. */
  keys?: number;
  /** A few of these names. */
  keyExamples?: string[];
  /** Fields of the documents in this field, or in this array. */
  fields?: FieldSchema[];
}

export interface CollectionSchema {
  name: CollectionName;
  type: CollectionType;
  /** Number of sampled documents. */
  sampled: number;
  /** `all`: every document; `random`: drawn by the server; `first`: the first ones, where it cannot draw. */
  sampleMethod: 'all' | 'random' | 'first';
  /** The server's estimate; null where it gives none, as for a view with more documents than the sample. */
  documentCount: number | null;
  fields: FieldSchema[];
  indexes: IndexInfo[];
  /** Source of a view. */
  viewOn?: string;
  /** The collection's own rules; it rejects documents that break them. */
  validator?: unknown;
  timeseries?: { timeField: string; metaField?: string; granularity?: string };
  capped?: boolean;
  /** Caveats for the reader about the sample and the schema. */
  notes: string[];
}

/** Stands in a path for names that are data. */
export const anyKey = '<key>';

type Fields = Pick<CollectionSchema, 'fields'>;

/**
 * Returns the field of a path such as `address.city`, `items.sku`, `items.0.sku` or `counts.abc`, or null. A path that
 * ends in an array's index means the array's own field.
 */
export function fieldAt(schema: Fields, path: string): FieldSchema | null {
  return path === '' ? null : within(schema.fields, 0, path);
}

/** Returns every path, parents before their children. */
export function paths(schema: Fields): string[] {
  return schema.fields.flatMap((field) => [field.path, ...paths({ fields: field.fields ?? [] })]);
}

/**
 * Compares the path name by name, not cut at its dots, since names may hold dots themselves; an exact name precedes a
 * name that is data.
 *
 * @param above Length of the path around `fields`, with its dot.
 */
function within(fields: readonly FieldSchema[], above: number, rest: string): FieldSchema | null {
  for (const field of fields) {
    if (field.keys !== undefined) continue;
    const name = field.path.slice(above);
    if (rest === name) return field;
    if (!rest.startsWith(`${name}.`)) continue;
    const found = below(field, rest.slice(name.length + 1));
    if (found !== null) return found;
  }
  const any = fields.find(({ keys }) => keys !== undefined);
  if (any === undefined) return null;
  const dot = rest.indexOf('.');
  return dot === -1 ? any : below(any, rest.slice(dot + 1));
}

function below(field: FieldSchema, rest: string): FieldSchema | null {
  const found = within(field.fields ?? [], field.path.length + 1, rest);
  if (found !== null || !field.types.some(({ type }) => type === 'array')) return found;
  const index = /^\d+(?:\.|$)/.exec(rest)?.[0];
  if (index === undefined) return null;
  return index.length === rest.length ? field : below(field, rest.slice(index.length));
}
