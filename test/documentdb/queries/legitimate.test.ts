/** What the guard lets through means what it should on a real server. */
import type { IndexSpecification } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Query } from '../../../src/control/ports/index.ts';
import { formatEjson } from '../../../src/documentdb/bson/parse/parse.ts';
import { legitimatePipelines } from '../../support/legitimate/legitimate-pipelines.ts';
import {
  legitimateData,
  legitimateFilters,
  legitimateIndexes,
  legitimateProjections,
} from '../../support/legitimate/legitimate-queries.ts';
import { plainOptions, useTestDatabase } from '../server.ts';

const database = useTestDatabase(legitimateData);

beforeAll(async () => {
  const orders = database.client.db(database.name).collection('orders');
  for (const index of legitimateIndexes) await orders.createIndex(index as IndexSpecification);
});

const orders = { collection: 'orders', skip: 0 };

interface Row {
  text: string;
  lacking: string | undefined;
}

async function runs(
  query: Query & { run(options: typeof plainOptions): Promise<unknown> },
  { lacking }: Row,
) {
  if (lacking === undefined) await query.run(plainOptions);
  else await expect(query.run(plainOptions), lacking).rejects.toThrow(/^The document database refuses this/);
}

describe('[WIRE-DB-13] legitimate queries run', () => {
  const filters = legitimateFilters.map(({ filter, lacking }) => ({ text: formatEjson(filter), lacking }));

  it.each(filters)('filter $text', async (row) => {
    const { name } = database;
    await runs(database.documents.find({ database: name, ...orders, filter: row.text }), row);
  });

  const projections = legitimateProjections.map(({ projection, filter, lacking }) => ({
    text: formatEjson(projection),
    filter: filter === undefined ? undefined : formatEjson(filter),
    lacking,
  }));

  it.each(projections)('projection $text', async (row) => {
    const { filter } = row;
    const request = { database: database.name, ...orders, projection: row.text, ...(filter && { filter }) };
    await runs(database.documents.find(request), row);
  });

  const pipelines = legitimatePipelines.map(({ pipeline, sources = [], lacking }) => ({
    text: pipeline.map(formatEjson).join(' '),
    pipeline: pipeline.map(formatEjson),
    sources,
    lacking,
  }));

  it.each(pipelines)('pipeline $text', async (row) => {
    const { pipeline, sources } = row;
    const query = database.documents.aggregate({ database: database.name, collection: 'orders', pipeline });
    expect(query.sources.map(({ collection }) => collection)).toEqual(['orders', ...sources]);
    await runs(query, row);
  });
});
