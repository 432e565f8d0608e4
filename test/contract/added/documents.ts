/** The project's own parameters and bounds of the document database's tools. */
import { addition, optional } from '../notation.ts';
import { path, position, reference } from './common.ts';

const database_name = { minChars: 1, maxBytes: 63 };
const collection = { database_name, collection_name: { minChars: 1, maxBytes: 255 } };

/** 1 MiB. */
const json = { maxBytes: 1_048_576 };

/** Beside the number of documents, and instead of an answer. */
const result = {
  // 1 KiB to 16 MiB.
  max_bytes: optional.integer({ min: 1_024, max: 16_777_216, default: 16_777_216 }),
  save_to_sandbox: optional.stringWith({ ...reference, beside: { save_to_path: 'x' } }),
  save_to_path: optional.stringWith({ ...path, beside: { save_to_sandbox: 'x' } }),
};
const target = { together: ['save_to_sandbox', 'save_to_path'] };

export const documentAdditions = [
  addition('DocumentDb.DiscoverCollections', { database_name }),
  addition('DocumentDb.GetCollectionSchema', { ...collection, sample_size: { min: 1, max: 100_000 } }),
  addition(
    'DocumentDb.FindDocuments',
    {
      ...collection,
      filter_dict: json,
      projection: json,
      sort: { default: [], maxItems: 32, items: json },
      skip: position,
      ...result,
    },
    target,
  ),
  addition('DocumentDb.CountDocuments', { ...collection, filter_dict: json }),
  addition(
    'DocumentDb.AggregateDocuments',
    { ...collection, pipeline: { maxItems: 1_000, items: json }, ...result },
    target,
  ),
];
