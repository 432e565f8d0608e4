/** DocumentDb.DiscoverDatabases and DocumentDb.DiscoverCollections */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { databaseName, readOnly } from './parameters.ts';

export const discoverDatabases = defineTool({
  name: 'DocumentDb.DiscoverDatabases',
  title: 'List the databases',
  description:
    'Lists the databases of the connected server with their size in bytes; the first of three steps before a query. ' +
    'Next: DiscoverCollections. unavailable: the operator has to connect a database.',
  input: z.strictObject({}),
  output: z.looseObject({
    result: z.array(z.looseObject({ name: z.string(), size_on_disk: z.int(), empty: z.boolean() })),
  }),
  annotations: readOnly,
  async handler(_parameters, { services, caller, signal }) {
    const databases = await services.documents.databases(caller, { signal });
    return {
      result: databases.map(({ name, sizeOnDisk, empty }) => ({ name, size_on_disk: sizeOnDisk, empty })),
    };
  },
  text: ({ result }) =>
    list(result, 'database', ({ name, size_on_disk, empty }) => {
      return `${name}: ${size_on_disk} bytes${empty ? ', empty' : ''}`;
    }),
});

export const discoverCollections = defineTool({
  name: 'DocumentDb.DiscoverCollections',
  title: 'List the collections',
  description:
    'Lists the collections and views of a database with estimated document counts (null: unknown, as for views) and ' +
    'indexes. Required before any tool that takes a collection_name. Next: GetCollectionSchema for each collection you will use.',
  input: z.strictObject({ database_name: databaseName }),
  output: z.looseObject({
    result: z.array(
      z.looseObject({
        name: z.string(),
        type: z.enum(['collection', 'view', 'timeseries']),
        document_count: z.int().nullable(),
        indexes: z.array(
          z.looseObject({
            name: z.string(),
            key: z.record(z.string(), z.union([z.number(), z.string()])),
            unique: z.boolean(),
          }),
        ),
      }),
    ),
  }),
  annotations: readOnly,
  async handler({ database_name }, { services, caller, signal }) {
    const collections = await services.documents.collections(caller, database_name, { signal });
    return {
      result: collections.map(({ name, type, documentCount, indexes }) => ({
        name,
        type,
        document_count: documentCount,
        indexes: indexes.map(({ name, key, unique }) => ({ name, key, unique })),
      })),
    };
  },
  text: ({ result }) => list(result, 'collection', collectionText),
});

interface Collection {
  name: string;
  type: string;
  document_count: number | null;
  indexes: { name: string; key: Record<string, unknown>; unique: boolean }[];
}

function collectionText({ name, type, document_count, indexes }: Collection): string {
  const count = document_count === null ? 'not counted' : `about ${document_count} documents`;
  const keys = indexes.map(({ key, unique }) => `${JSON.stringify(key)}${unique ? ' unique' : ''}`);
  const indexed = keys.length > 0 ? `; indexes ${keys.join(', ')}` : '';
  return `${name}${type === 'collection' ? '' : ` (${type})`}: ${count}${indexed}`;
}

function list<Found>(found: Found[], what: string, text: (one: Found) => string): string {
  if (found.length === 0) return `There are no ${what}s.`;
  return [`${found.length} ${what}${found.length === 1 ? '' : 's'}:`, ...found.map(text)].join('\n');
}
