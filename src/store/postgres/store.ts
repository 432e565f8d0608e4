/** The store in a PostgreSQL database. */
import type { Log, Store } from '../../control/ports/index.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { openRows } from '../open-rows.ts';
import type { Secrets } from '../secrets.ts';
import { createCaches } from './cache/caches.ts';
import { explainedAtOpening } from './errors.ts';
import { Occupancy } from './occupancy.ts';
import { openPool } from './pool.ts';
import { migrate } from './schema.ts';
import { postgresSql } from './sql.ts';

export interface PostgresStoreOptions {
  address: StoreAddress;
  secrets: Secrets;
  /** Receives failures of background work. */
  log?: Pick<Log, 'warn'>;
}

/**
 * Opens the database, which must exist, and migrates it to the newest schema. Rejects one of a newer service, of another
 * program, of another secret key, or in use by another service with `failed_precondition`.
 */
export async function openPostgresStore({ address, secrets, log }: PostgresStoreOptions): Promise<Store> {
  await using opened = new AsyncDisposableStack();
  try {
    const caches = createCaches();
    const pool = openPool(address, log);
    opened.defer(() => pool.end());
    const occupancy = await Occupancy.take({ address, caches, log });
    opened.defer(() => occupancy.close());
    const connection = await pool.connect();
    try {
      await migrate(connection);
    } finally {
      connection.release();
    }
    const rows = await openRows(
      postgresSql(pool, () => occupancy.assertTaken()),
      secrets,
    );
    const all = opened.move();
    return { ...caches.before(rows), close: () => all.disposeAsync() };
  } catch (error) {
    throw explainedAtOpening(error);
  }
}
