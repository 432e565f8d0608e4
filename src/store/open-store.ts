/**
 * Opens the store of a data directory: its own SQLite file, or a PostgreSQL database. A data directory keeps to one of
 * them: with an empty store in place of the full one, a service would take all of its sandboxes for leftovers.
 */
import { existsSync } from 'node:fs';
import type { Log, Store } from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';
import type { StoreAddress } from '../model/store-address.ts';
import type { DataDirectory } from './data-directory.ts';
import { readIfThere, replaceFile } from './files/durable-file.ts';
import type { Secrets } from './files/secrets.ts';
import { openSqliteStore } from './sqlite/store.ts';

export interface OpenStoreOptions {
  /** The caller holds its lock. */
  data: DataDirectory;
  /** null for SQLite. */
  address: StoreAddress | null;
  secrets: Secrets;
  /** true: other processes may serve the same PostgreSQL database beside this one. */
  shared?: boolean;
  log?: Pick<Log, 'warn'>;
}

/** Rejects with `failed_precondition` when the data directory belongs to another store. */
export async function openStore({
  data,
  address,
  secrets,
  shared = false,
  log,
}: OpenStoreOptions): Promise<Store> {
  const known = storeNameIn(data);
  if (address === null) {
    if (known !== null) throw inPostgres(known);
    return openSqliteStore({ file: data.databaseFile, secrets, ...(log ? { log } : {}) });
  }
  const wanted = storeName(address);
  if (known !== null && known !== wanted) throw inPostgres(known);
  if (known === null && existsSync(data.databaseFile)) throw inSqlite();
  const { openPostgresStore } = await import('./postgres/store.ts');
  const store = await openPostgresStore({ address, secrets, shared, ...(log ? { log } : {}) });
  bindToStore(data, address);
  return store;
}

/** Makes the data directory one whose store is in this database. */
export function bindToStore(data: DataDirectory, address: StoreAddress): void {
  if (storeNameIn(data) !== null) return;
  replaceFile(data.storeAddressFile, Buffer.from(`${storeName(address)}\n`));
}

/** Returns the database of a data directory; null when its store is SQLite. */
export function storeNameIn(data: DataDirectory): string | null {
  return readIfThere(data.storeAddressFile)?.toString().trim() ?? null;
}

/** The name of the database alone: its host may move. */
function storeName({ url }: StoreAddress): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

function inPostgres(name: string): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `The store of this data directory is the PostgreSQL database '${name}'.`,
    { hint: `Give its address: --store postgres://user@host/${name}` },
  );
}

function inSqlite(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The store of this data directory is its file sandhaven.db.',
    {
      hint: 'Leave --store out, or move the store to PostgreSQL first: sandhaven store copy --to postgres://…',
    },
  );
}
