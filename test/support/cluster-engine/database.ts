/** A database of its own for one installation, on the PostgreSQL that all tests of a run share. */
import pg from 'pg';

export interface InstallationDatabase {
  url: string;
  change(sql: string): Promise<void>;
  /** All rows of all tables. */
  text(): Promise<string>;
  /** Also ends the connections to it. */
  drop(): Promise<void>;
}

/** @param server Address of a database of the server, for a user who may create others. */
export async function createDatabase(server: string, name: string): Promise<InstallationDatabase> {
  await query(server, `CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  const url = address.href;
  return {
    url,
    change: async (sql) => void (await query(url, sql)),
    async text() {
      const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
      const rows = tables.map(({ tablename }) => query(url, `SELECT t::text AS row FROM ${tablename} t`));
      return (await Promise.all(rows))
        .flat()
        .map(({ row }) => row)
        .join('\n');
    },
    drop: async () => void (await query(server, `DROP DATABASE ${name} WITH (FORCE)`)),
  };
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
