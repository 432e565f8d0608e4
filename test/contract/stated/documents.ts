/** Of docs/contract.md, "Document database". */
import { optional, required, tool } from '../notation.ts';

const collection = { database_name: required.string, collection_name: required.string };

export const documents = [
  tool('DocumentDb.DiscoverDatabases', {}),
  tool('DocumentDb.DiscoverCollections', { database_name: required.string }),
  tool('DocumentDb.GetCollectionSchema', {
    ...collection,
    sample_size: optional.integer({ default: 1_000 }),
  }),
  tool('DocumentDb.FindDocuments', {
    ...collection,
    filter_dict: optional.string,
    projection: optional.string,
    sort: optional.strings,
    limit: optional.integer({ min: 1, max: 10_000, default: 1_000 }),
    skip: optional.integer({ min: 0, default: 0 }),
  }),
  tool('DocumentDb.CountDocuments', { ...collection, filter_dict: optional.string }),
  tool('DocumentDb.AggregateDocuments', {
    ...collection,
    pipeline: required.strings,
    limit: optional.integer({ min: 1, max: 10_000, default: 1_000 }),
  }),
];
