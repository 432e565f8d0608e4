/** The document database behind one connection string. */
import type { DocumentDatabase } from '../control/ports.ts';

export interface DocumentDatabaseOptions {
  connectionString: string;
}

export function createDocumentDatabase(_options: DocumentDatabaseOptions): DocumentDatabase {
  throw new Error('pending');
}
