/** The store in one SQLite file. The caller owns the lock of the data directory, so there is one writer. */
import type { Log, Store } from '../../control/ports/index.ts';
import { createAlone } from '../alone.ts';
import { openRows } from '../open-rows.ts';
import type { Secrets } from '../secrets.ts';
import { Database } from './database.ts';
import { migrate } from './migrations.ts';
import { sqliteSql } from './sql.ts';

export interface StoreOptions {
  file: string;
  secrets: Secrets;
  /** Receives failures of background work. */
  log?: Pick<Log, 'warn'>;
}

/**
 * Opens the file, or creates it, and migrates it to the newest schema.
 * Rejects a file of a newer service, of another program, or of another secret key with `failed_precondition`.
 */
export async function openSqliteStore({ file, secrets, log }: StoreOptions): Promise<Store> {
  const database = new Database(file, log);
  try {
    migrate(database);
    return { ...(await openRows(sqliteSql(database), secrets)), replicas: createAlone() };
  } catch (error) {
    await database.close();
    throw error;
  }
}
