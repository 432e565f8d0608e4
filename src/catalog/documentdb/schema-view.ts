/** A collection's schema as callers see it. */
import type { CollectionSchema } from '../../model/document-schema.ts';

export function presentSchema(schema: CollectionSchema) {
  return {
    database_name: schema.name.database,
    collection_name: schema.name.collection,
    sampled: schema.sampled,
    sample_method: schema.sampleMethod,
    document_count: schema.documentCount,
    fields: schema.fields.map(({ path, probability }) => ({ path, probability })),
    indexes: schema.indexes.map(({ name, key, unique }) => ({ name, key, unique })),
    notes: schema.notes,
  };
}
