/** `sandhaven store copy`: moves the store of a data directory from its SQLite file to a PostgreSQL database. */
import { existsSync, renameSync } from 'node:fs';
import { SandhavenError } from '../model/errors.ts';
import { parseStoreUrl } from '../model/store-address.ts';
import { lockDataDirectory, openExistingDataDirectory } from '../store/data-directory.ts';
import { openSecrets } from '../store/files/secrets.ts';
import { bindToStore, storeNameIn } from '../store/open-store.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { flagIsSet, flagValue, parseKnownFlags, usageError } from '../surfaces/cli/flags.ts';
import type { CliIo } from '../surfaces/cli/io.ts';
import { parseUpOptions } from './options/up-options.ts';

const help = `Usage: sandhaven store copy --to postgres://user@host/name [--data-dir …]

Moves the store of a data directory from its file sandhaven.db to a PostgreSQL database, which must exist and be
empty: one that holds a store already is refused, and stays as it is. All of it is copied, or nothing; a copy that was
interrupted can be tried again. The service must not be running; start it with --store afterwards. The old file stays,
as sandhaven.db.copied. The password comes from PGPASSWORD or ~/.pgpass.
`;

/** @returns the exit status */
export async function storeCommand(argv: string[], { env, stdout }: CliIo): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '--help' || first === '-h') {
    stdout.write(help);
    return 0;
  }
  if (first !== 'copy')
    throw usageError('The command is: sandhaven store copy.', 'See sandhaven store --help.');
  const flags = parseKnownFlags(rest, {
    to: { type: 'string' },
    'data-dir': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (flagIsSet(flags, 'help')) {
    stdout.write(help);
    return 0;
  }
  const to = flagValue(flags, 'to');
  if (to === undefined) throw usageError('--to is missing.', 'Write --to postgres://user@host/name.');
  const address = { url: parseStoreUrl('--to', to), password: env['PGPASSWORD'] || null };
  const dataDir = flagValue(flags, 'data-dir') ?? parseUpOptions([], env).dataDir;
  await copyStore(dataDir, address, (line) => stdout.write(`${line}\n`));
  stdout.write(`Copied. Start the service with --store ${to}\n`);
  return 0;
}

/** Whatever is killed when: the data directory keeps to SQLite until all is in PostgreSQL. */
async function copyStore(
  dataDir: string,
  address: { url: string; password: string | null },
  onLine: (line: string) => void,
): Promise<void> {
  const data = openExistingDataDirectory(dataDir);
  const lock = lockDataDirectory(data.path);
  try {
    const known = storeNameIn(data);
    if (known !== null || !existsSync(data.databaseFile)) {
      throw new SandhavenError('failed_precondition', `${data.path} has no store in SQLite.`, {
        hint:
          known === null ? 'Nothing is to be copied.' : `Its store is the PostgreSQL database '${known}'.`,
      });
    }
    // Brings the file to the newest schema, and makes sure of the secret key.
    const secrets = openSecrets({ keyFile: data.secretKeyFile });
    await (await openSqliteStore({ file: data.databaseFile, secrets })).close();
    const { copyToPostgres } = await import('../store/postgres/copy.ts');
    await copyToPostgres(data.databaseFile, address, ({ table, rows }) => onLine(`${table}: ${rows} rows`));
    bindToStore(data, address);
    renameSync(data.databaseFile, `${data.databaseFile}.copied`);
  } finally {
    lock.release();
  }
}
