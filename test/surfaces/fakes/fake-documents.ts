/** Two documents in memory, as much as a surface can tell apart. Real queries are tested against a real server. */
import type { DocumentService } from '../../../src/control/documents/documents.ts';

/** The public face of a class: a fake cannot have its private fields. */
type Face<T> = Pick<T, keyof T>;

const documents = ['{"_id":1,"name":"Ada"}', '{"_id":2,"name":"Grace"}'];
const found = { documents, hasMore: true, next: { skip: 2 }, notes: ['sort by _id'] };
const saved = { count: 2, bytes: 49, fields: ['_id', 'name'], hasMore: false, notes: [] };
const index = { name: '_id_', key: { _id: 1 }, unique: true };

export function fakeDocuments(): Face<DocumentService> {
  return {
    databases: async () => [{ name: 'shop', sizeOnDisk: 4096, empty: false }],
    collections: async () => [{ name: 'orders', type: 'collection', documentCount: 2, indexes: [index] }],
    schema: async (_caller, name) => ({
      name,
      type: 'collection',
      sampled: 2,
      sampleMethod: 'all',
      documentCount: 2,
      fields: [
        {
          path: 'name',
          types: [{ type: 'string', count: 2, probability: 1 }],
          probability: 1,
          examples: ['Ada'],
        },
      ],
      indexes: [index],
      notes: [],
    }),
    find: async () => found,
    aggregate: async () => found,
    count: async () => ({ count: 2, notes: [] }),
    saveFind: async () => saved,
    saveAggregate: async () => saved,
    close: async () => {},
  };
}
