/**
 * View of a collection's schema for callers. A model reads all of it, so its bytes are bounded: the required keys of
 * every field come first, then the most informative details while there is room.
 */
import { z } from 'zod';
import type { CollectionSchema, FieldSchema, IndexInfo } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { integerWithDefault } from '../parameters/scalars.ts';
import { collectionOf, collectionParameters, notes, readOnly } from './parameters.ts';
import {
  addDetails,
  bytesOf,
  detailsOf,
  type FieldDetail,
  type FieldView,
  withoutDetails,
} from './schema-detail.ts';

const { shownBytes, shownFieldBytes, shownFields, shownValidatorBytes } = limits.documents.schema;

/** Reserve for the notes about omissions, and longest note. */
const noteBytes = 110;

export function presentSchema(schema: CollectionSchema) {
  const all = everyField(schema.fields);
  const shown = mostTelling(all);
  const details: FieldDetail[] = [];
  const view = {
    database_name: schema.name.database,
    collection_name: schema.name.collection,
    ...marks(schema),
    sampled: schema.sampled,
    sample_method: schema.sampleMethod,
    document_count: schema.documentCount,
    fields: viewsOf(schema.fields, shown, details),
    indexes: schema.indexes.map(indexView),
  };
  const hidden = all.length - shown.size;
  const said = bytesOf({ notes: schema.notes }) + noteBytes * (hidden > 0 ? 2 : 1);
  const room = Math.max(shownBytes, shown.size * shownFieldBytes) - bytesOf(view) - said;
  const notes = [...schema.notes, ...cutNotes(hidden, addDetails(details, room))];
  return { ...view, ...withoutUndefined({ notes: notes.length > 0 ? notes : undefined }) };
}

function indexView({ name, key, unique, sparse, expireAfterSeconds, partial }: IndexInfo) {
  return {
    name,
    key,
    unique,
    ...(sparse ? { sparse } : {}),
    ...withoutUndefined({ expire_after_seconds: expireAfterSeconds }),
    ...(partial ? { partial } : {}),
  };
}

/** Returns the special properties of the collection. */
function marks({ type, viewOn, validator, timeseries, capped }: CollectionSchema) {
  return {
    ...(type === 'collection' ? {} : { type }),
    ...withoutUndefined({ view_on: viewOn }),
    ...(validator === undefined
      ? {}
      : { validator: bytesOf(validator) > shownValidatorBytes ? true : validator }),
    ...(timeseries ? { timeseries: timeseriesView(timeseries) } : {}),
    ...(capped ? { capped } : {}),
  };
}

function timeseriesView({ timeField, metaField, granularity }: NonNullable<CollectionSchema['timeseries']>) {
  return { time_field: timeField, ...withoutUndefined({ meta_field: metaField, granularity }) };
}

interface PlacedField {
  field: FieldSchema;
  depth: number;
}

function everyField(fields: readonly FieldSchema[], depth = 0): PlacedField[] {
  return fields.flatMap((field) => [{ field, depth }, ...everyField(field.fields ?? [], depth + 1)]);
}

/** Selects fields above the bound: the shallowest first, then the most frequent. */
function mostTelling(all: readonly PlacedField[]): Set<FieldSchema> {
  const byWorth = all.toSorted((a, b) => a.depth - b.depth || b.field.probability - a.field.probability);
  return new Set(byWorth.slice(0, shownFields).map(({ field }) => field));
}

/** @param details Receives the optional details. */
function viewsOf(
  fields: readonly FieldSchema[],
  shown: ReadonlySet<FieldSchema>,
  details: FieldDetail[],
): FieldView[] {
  return fields
    .filter((field) => shown.has(field))
    .map((field) => {
      const view = withoutDetails(field);
      details.push(...detailsOf(field, view));
      const inside = viewsOf(field.fields ?? [], shown, details);
      if (inside.length > 0) view.fields = inside;
      return view;
    });
}

function cutNotes(hidden: number, short: number): string[] {
  return [
    ...(hidden > 0 ? [`${hidden} more fields are left out: the deepest and the rarest.`] : []),
    ...(short > 0
      ? [`To stay short, ${short} fields show fewer values or bounds than are known, or no examples.`]
      : []),
  ];
}

export const getCollectionSchema = defineTool({
  name: 'DocumentDb.GetCollectionSchema',
  title: 'Learn what the documents look like',
  description:
    'Infers the structure of a collection from a sample of its documents: fields, BSON types, how often each is there, ' +
    'ranges, enums, patterns of strings (9 for digits), examples (empty where enum, min or fields say it), and the ' +
    'indexes to filter by. Required before querying, for every collection of the ' +
    'query ($lookup sources too). failed_precondition: DiscoverCollections first.',
  input: z.strictObject({
    ...collectionParameters,
    sample_size: integerWithDefault('Documents to sample', limits.documents.sampleSize),
  }),
  output: z.looseObject({
    database_name: z.string(),
    collection_name: z.string(),
    sampled: z.int(),
    sample_method: z.enum(['all', 'random', 'first']),
    document_count: z.int().nullable(),
    fields: z.array(z.looseObject({ path: z.string(), probability: z.number() })),
    indexes: z.array(z.looseObject({ name: z.string(), unique: z.boolean() })),
    notes,
  }),
  annotations: readOnly,
  async handler(parameters, { services, caller, signal }) {
    const { sample_size } = parameters;
    const schema = await services.documents.schema(caller, collectionOf(parameters), sample_size, { signal });
    return presentSchema(schema);
  },
});
