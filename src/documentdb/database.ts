/** Implements the document database port for one connection string. Connects on first use. */
import type { DocumentDatabase } from '../control/ports/index.ts';
import type { CollectionName } from '../model/document-schema.ts';
import { collections, databases } from './collections/discover.ts';
import { sampledSchema } from './collections/sample.ts';
import { Connection } from './connection/connection.ts';
import { couldWrite } from './connection/privileges.ts';
import { checkCollectionName, checkDatabaseName } from './guard/names.ts';
import { AggregateQuery } from './query/aggregate.ts';
import { CountQuery } from './query/count.ts';
import { FindQuery } from './query/find.ts';

export function createDocumentDatabase({ connectionString }: { connectionString: string }): DocumentDatabase {
  const connection = new Connection(connectionString);
  return {
    databases: (signal) => databases(connection, signal),
    async collections(database, signal) {
      checkDatabaseName(database, 'database_name');
      return await collections(connection, database, signal);
    },
    async schema({ database, collection }, sampleSize, signal) {
      checkNames({ database, collection });
      const name = { database, collection };
      return await sampledSchema({ connection, name, size: sampleSize, signal });
    },
    find(request) {
      checkNames(request);
      return new FindQuery(connection, request);
    },
    count(request) {
      checkNames(request);
      return new CountQuery(connection, request);
    },
    aggregate(request) {
      checkNames(request);
      return new AggregateQuery(connection, request);
    },
    couldWrite: (signal) => couldWrite(connection, signal),
    close: () => connection.close(),
  };
}

function checkNames({ database, collection }: CollectionName): void {
  checkDatabaseName(database, 'database_name');
  checkCollectionName(collection, 'collection_name');
}
