/**
 * Copies a SQLite store into a PostgreSQL database, in one transaction: all of it arrives, or nothing. Sealed values stay
 * sealed; rows keep their order. The caller holds the lock of the data directory, so nobody writes meanwhile.
 */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { explainedAtOpening } from './errors.ts';
import { Occupancy } from './kept-connection.ts';
import { connectionSettings, toStored } from './pool.ts';
import { migrate } from './schema.ts';

export interface CopiedTable {
  table: string;
  rows: number;
}

/**
 * Rejects a database that holds a store already, of whichever installation, one of another program, and one in use, with
 * `failed_precondition`.
 * @param file A SQLite database at the newest version of the schema.
 */
export async function copyToPostgres(
  file: string,
  address: StoreAddress,
  onTable: (copied: CopiedTable) => void,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const source = new DatabaseSync(file);
  opened.defer(() => source.close());
  try {
    const occupancy = await Occupancy.take({ address });
    opened.defer(() => occupancy.close());
    const target = new pg.Client(connectionSettings(address));
    target.on('error', () => {});
    await target.connect();
    opened.defer(() => target.end());
    await migrate(target);
    await target.query('BEGIN');
    await refuseFilled(target);
    await copyTables(source, target, onTable);
    await target.query('COMMIT');
  } catch (error) {
    throw explainedAtOpening(error);
  }
}

async function copyTables(
  source: DatabaseSync,
  target: pg.Client,
  onTable: (copied: CopiedTable) => void,
): Promise<void> {
  for (const table of tablesOf(source)) onTable({ table, rows: await copyTable(source, target, table) });
}

/** In the order of their creation: a table refers to earlier ones alone. */
function tablesOf(source: DatabaseSync): string[] {
  const rows = source.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`).all();
  return rows.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
}

async function copyTable(source: DatabaseSync, target: pg.Client, table: string): Promise<number> {
  const described = await target.query(
    `SELECT column_name AS name, is_identity = 'YES' AS counted FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  const columns = described.rows.map(({ name }) => String(name));
  // Named, since SQLite calls a rowid by the name of the key that it is.
  const selected = columns.map((name) => `${name} AS "${name}"`).join(', ');
  const rows = source.prepare(`SELECT ${selected} FROM ${table} ORDER BY ${table}.rowid`).iterate();
  let copied = 0;
  for (const batch of batches(rows)) {
    await insert(target, table, columns, batch);
    copied += batch.length;
  }
  for (const { name, counted } of described.rows) {
    if (counted) await continueCounting(target, table, name);
  }
  return copied;
}

type SqliteRow = Record<string, unknown>;

function* batches(rows: Iterable<SqliteRow>): Generator<SqliteRow[]> {
  let batch: SqliteRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < limits.postgres.copiedRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function insert(target: pg.Client, table: string, columns: string[], rows: SqliteRow[]): Promise<void> {
  const places = rows.map(
    (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`,
  );
  const values = rows.flatMap((row) =>
    columns.map((column) => {
      const value = row[column];
      return typeof value === 'string' ? toStored(value) : value;
    }),
  );
  await target.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places.join(', ')}`, values);
}

/** New rows come after the copied ones. */
async function continueCounting(target: pg.Client, table: string, column: string): Promise<void> {
  await target.query(
    `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 0) + 1, false)
     FROM ${table}`,
  );
}

/** A store of the same key may be the one in use, and the file an old copy of what it was made from. */
async function refuseFilled(target: pg.Client): Promise<void> {
  const { rows } = await target.query('SELECT 1 FROM installation');
  if (rows.length === 0) return;
  throw new SandhavenError('failed_precondition', 'The database holds the store of a service already.', {
    hint: 'Copy into an empty database. Nothing was changed.',
  });
}
