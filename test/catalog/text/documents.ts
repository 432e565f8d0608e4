/** Results of the tools for documents. */
import type { Sample, Samples } from './sample.ts';

const id = { name: '_id_', key: { _id: 1 }, unique: true };
const byDay = { name: 'day', key: { day: -1, kind: 1 }, unique: false };

const page: Sample = {
  result: {
    result: ['{"_id":1}', '{"_id":2}'],
    returned: 2,
    has_more: true,
    next: { skip: 2 },
    notes: ['sort by _id'],
  },
  says: {
    result: '{"_id":1}\n{"_id":2}',
    returned: /^2 documents\./,
    has_more: 'has_more: there are more.',
    next: 'next: {"skip":2}',
    skip: 'next: {"skip":2}',
    notes: 'Note: sort by _id',
  },
};

const byFilter: Sample = {
  result: { ...page.result, next: { filter_dict: '{"_id":{"$gt":2}}' } },
  says: { filter_dict: 'next: {"filter_dict":"{\\"_id\\":{\\"$gt\\":2}}"}' },
};

const none: Sample = {
  result: { result: [], returned: 0, has_more: false },
  says: { returned: /^0 documents\.$/ },
};

const saved: Sample = {
  result: {
    result: [],
    returned: 0,
    has_more: true,
    saved: { sandbox: 'box', path: 'a.jsonl', count: 1, size_bytes: 10, fields: ['_id', 'n'] },
    notes: ['why'],
  },
  says: {
    saved: "1 document (10 bytes) saved in a.jsonl of sandbox 'box', a JSON line each.",
    sandbox: "sandbox 'box'",
    path: 'a.jsonl',
    count: /^1 document /,
    size_bytes: '10 bytes',
    fields: 'Fields: _id, n.',
    has_more: 'has_more: there are more.',
    notes: 'Note: why',
  },
};

export const documentSamples: Samples = {
  'DocumentDb.DiscoverDatabases': [
    {
      result: {
        result: [
          { name: 'shop', size_on_disk: 4_096, empty: false },
          { name: 'new', size_on_disk: 0, empty: true },
        ],
      },
      says: {
        result: /^2 databases:\n/,
        name: 'shop:',
        size_on_disk: 'shop: 4096 bytes\n',
        empty: 'new: 0 bytes, empty',
      },
    },
    { result: { result: [] }, says: { result: 'There are no databases.' } },
  ],
  'DocumentDb.DiscoverCollections': [
    {
      result: {
        result: [
          { name: 'orders', type: 'collection', document_count: 12, indexes: [id, byDay] },
          { name: 'early', type: 'view', document_count: null, indexes: [] },
        ],
      },
      says: {
        result: /^2 collections:\n/,
        name: 'orders:',
        type: 'early (view)',
        document_count: /orders: about 12 documents;[\s\S]*early \(view\): not counted$/,
        indexes: 'indexes {"_id":1} unique, {"day":-1,"kind":1}',
        key: '{"_id":1}',
        unique: '{"_id":1} unique',
      },
    },
  ],
  'DocumentDb.CountDocuments': [
    { result: { result: 7 }, says: { result: /^7$/ } },
    {
      result: { result: 0, notes: ['why', 'slow'] },
      says: { result: /^0\n/, notes: 'Note: why\nNote: slow' },
    },
  ],
  'DocumentDb.FindDocuments': [page, byFilter, none, saved],
  'DocumentDb.AggregateDocuments': [page, none, saved],
};
