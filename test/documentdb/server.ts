/** The real server that these tests talk with, and databases of their own on it. */
import { randomBytes } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import type { DocumentDatabase } from '../../src/control/ports/index.ts';
import { createDocumentDatabase } from '../../src/documentdb/database.ts';
import type {} from '../support/document-database.setup.ts';

/** Of a user who may write. */
export const adminConnectionString = inject('documentDatabase').admin;

/** Of one who may only read. */
export const readerConnectionString = inject('documentDatabase').reader;

export interface TestDatabase {
  /** Of the database. */
  readonly name: string;
  /** What is tested. */
  readonly documents: DocumentDatabase;
  /** The driver itself, for what a test prepares and looks at. */
  readonly client: MongoClient;
}

/** A database of this file's own with these collections, for all its tests; removed afterwards. */
export function useTestDatabase(collections: Record<string, Document[]> = {}): TestDatabase {
  const name = `t_${randomBytes(8).toString('hex')}`;
  const client = new MongoClient(adminConnectionString);
  const documents = createDocumentDatabase({ connectionString: adminConnectionString });
  beforeAll(async () => {
    for (const [collection, content] of Object.entries(collections)) {
      await client.db(name).collection(collection).insertMany(content);
    }
  });
  afterAll(async () => {
    await documents.close();
    await client.db(name).dropDatabase();
    await client.close();
  });
  return { name, documents, client };
}

/** One for this test, with another connection string. */
export function connectTo(connectionString: string): DocumentDatabase {
  const documents = createDocumentDatabase({ connectionString });
  onTestFinished(() => documents.close());
  return documents;
}

/** The same server at another address; one that cannot be reached is given up soon. */
export function connectionStringAt(port: number, options = ''): string {
  const url = new URL(adminConnectionString);
  url.host = `127.0.0.1:${port}`;
  url.search = `serverSelectionTimeoutMS=1000&connectTimeoutMS=1000&${options}`;
  return url.href;
}

export function serverAddress(): { host: string; port: number } {
  const { hostname, port } = new URL(adminConnectionString);
  return { host: hostname, port: Number(port) };
}

/** Nothing is known of any collection, and a result may be of ordinary size. */
export const plainOptions = { schemaOf: () => null, maxBytes: 2 ** 20 };
