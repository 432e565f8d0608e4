/** Collections of a document database and what their documents look like, as far as a sample shows it. */

export interface CollectionName {
  database: string;
  collection: string;
}

export type CollectionType = 'collection' | 'view' | 'timeseries';

export interface IndexInfo {
  name: string;
  /** By field: 1, -1, or the kind of index (`text`, `2dsphere`, `hashed` …). */
  key: Record<string, number | string>;
  unique: boolean;
  sparse?: boolean;
  /** Documents go by themselves so long after the time in the field. */
  expireAfterSeconds?: number;
  /** It holds only documents that match a filter. */
  partial?: boolean;
}

/** A BSON type's alias: int, long, double, decimal, objectId, date, string, object, array, bool, null … */
export interface FieldType {
  type: string;
  count: number;
  /** Of the places where the field could be, how many hold this type: 0 to 1. */
  probability: number;
  /** Of `array`: what is inside, by how many elements; their probability is of all elements. */
  elements?: FieldType[];
}

/**
 * A field, or all the fields that are at one path. What is said of values (examples, enum, min, max) is said of those in
 * its arrays too, since a query of the path finds both.
 *
 * Values are as relaxed Extended JSON writes them, already parsed: plain JSON values.
 */
export interface FieldSchema {
  /**
   * From the document's root, with dots; what is inside of an array's documents has the array's own path before it. The
   * last segment is `<key>` where the names are data: then `keys` is set.
   */
  path: string;
  types: FieldType[];
  /**
   * In how many of the documents around it the field is there: 0 to 1. Inside of arrays these are their documents. Where
   * names are data, how many of them have any.
   */
  probability: number;
  /** A few different ones; long texts are cut, with an ellipsis at the end. */
  examples: unknown[];
  /** Where it holds strings and other types: what the strings look like, such as `9.9 kg`; the most frequent first. */
  patterns?: string[];
  /** Every value there is (but null) with its count, the most frequent first, when they are few. */
  enum?: { value: unknown; count: number }[];
  /** Of numbers or dates, whichever there are more of. */
  min?: unknown;
  max?: unknown;
  arrayLength?: { min: number; max: number; average: number };
  /** Set where this is many fields whose names are data: how many different names there were. */
  keys?: number;
  /** A few of these names. */
  keyExamples?: string[];
  /** Of the documents in this field, or in this array. */
  fields?: FieldSchema[];
}

export interface CollectionSchema {
  name: CollectionName;
  type: CollectionType;
  /** How many documents were looked at. */
  sampled: number;
  /** `all`: every document; `random`: drawn by the server; `first`: the first ones, where it cannot draw. */
  sampleMethod: 'all' | 'random' | 'first';
  /** As the server estimates it; null where it does not tell, as of a view with more documents than were looked at. */
  documentCount: number | null;
  fields: FieldSchema[];
  indexes: IndexInfo[];
  /** Of a view: what it is made from. */
  viewOn?: string;
  /** The collection refuses documents that do not fit rules of its own. */
  validator?: unknown;
  timeseries?: { timeField: string; metaField?: string; granularity?: string };
  capped?: boolean;
  /** What the reader should know of how this came about. */
  notes: string[];
}
