/** Connections to PostgreSQL: their number, their time limits, and JavaScript's values for its types. */
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import type { Log } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { fromStored } from './text.ts';

const { connections, connectTimeoutMs, statementTimeoutMs, lockTimeoutMs } = limits.postgres;

/** Object ids of types, as in PostgreSQL's pg_type.dat. */
const INT8 = 20;
const TEXT = 25;
const NUMERIC = 1700;

/** Variables of the environment complete the address, as the PostgreSQL manual has them for libpq. */
export function connectionSettings({ url, password }: StoreAddress): pg.ClientConfig {
  return {
    // A connection string would hide a password beside it.
    ...parseIntoClientConfig(url),
    ...(password === null ? {} : { password }),
    application_name: 'sandhaven',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // The server may be gone without a word: then its own limits never fire.
    query_timeout: 2 * statementTimeoutMs,
    keepAlive: true,
    types: { getTypeParser },
  };
}

/** Opens connections when they are needed, and closes those that nobody uses. */
export function openPool(address: StoreAddress, log?: Pick<Log, 'warn'>): pg.Pool {
  const pool = new pg.Pool({ ...connectionSettings(address), max: connections });
  // An unused connection that breaks off is replaced at the next use.
  pool.on('error', (error) => log?.warn('a connection to the database broke off', { error }));
  return pool;
}

function getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (type === INT8 || type === NUMERIC) return Number;
  if (type === TEXT) return fromStored;
  return pg.types.getTypeParser(type, format ?? 'text') as (value: string) => unknown;
}
