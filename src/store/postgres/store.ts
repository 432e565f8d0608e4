/** The store in a PostgreSQL database. */
import type { Pool } from 'pg';
import type { Log, Store, StoreConnections } from '../../control/ports/index.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import type { Secrets } from '../files/secrets.ts';
import { createAlone } from '../rows/alone.ts';
import { openRows } from '../rows/open-rows.ts';
import { createCaches } from './cache/caches.ts';
import { explainedAtOpening } from './errors.ts';
import { Occupancy } from './kept-connection.ts';
import { Membership } from './membership.ts';
import { openPool } from './pool.ts';
import { migrate } from './schema.ts';
import { postgresSql } from './sql.ts';

export interface PostgresStoreOptions {
  address: StoreAddress;
  secrets: Secrets;
  /** true: other processes may serve the same database beside this one. */
  shared?: boolean;
  /** Receives failures of background work. */
  log?: Pick<Log, 'warn'>;
}

/**
 * Opens the database, which must exist, and migrates it to the newest schema. Rejects one of a newer service, of another
 * program, of another secret key, or in use by another service with `failed_precondition`.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { address, secrets, shared = false, log } = options;
  await using opened = new AsyncDisposableStack();
  try {
    const caches = createCaches();
    const pool = openPool(address, log);
    opened.defer(() => pool.end());
    const place = shared
      ? await Membership.join({ address, pool, caches, log })
      : await Occupancy.take({ address, caches, log });
    opened.defer(() => place.close());
    if (!shared) await migrateOn(pool);
    const usable = () => (place instanceof Membership ? place.assertLeased() : place.assertTaken());
    const rows = await openRows(postgresSql(pool, usable), secrets);
    const all = opened.move();
    const replicas = place instanceof Membership ? place : createAlone();
    return {
      ...caches.before({ ...rows, replicas }),
      connections: () => occupationOf(pool),
      close: () => all.disposeAsync(),
    };
  } catch (error) {
    throw explainedAtOpening(error);
  }
}

function occupationOf({ totalCount, idleCount, waitingCount, options }: Pool): StoreConnections {
  return { open: totalCount, idle: idleCount, max: options.max, waiting: waitingCount };
}

async function migrateOn(pool: Pool): Promise<void> {
  const connection = await pool.connect();
  try {
    await migrate(connection);
  } finally {
    connection.release();
  }
}
