/** The store in one SQLite file. The caller owns the lock of the data directory, so there is one writer. */
import type { Log, Store } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Secrets } from '../secrets.ts';
import { AccessTokenRows } from './access-tokens.ts';
import { KeyRows } from './api-keys.ts';
import { AuditRows } from './audit.ts';
import { AuthorizationRows } from './authorizations.ts';
import { Database } from './database.ts';
import { GitCredentialRows } from './git-credentials.ts';
import { IdempotencyRows } from './idempotency.ts';
import { migrate } from './migrations.ts';
import { RegistryCredentialRows } from './registry-credentials.ts';
import { SandboxRows } from './sandbox-rows.ts';
import { SnapshotRows } from './snapshots.ts';
import { UserRows } from './users.ts';

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
export async function openSqliteStore(options: StoreOptions): Promise<Store> {
  const { file, secrets, log } = options;
  const database = new Database(file, log);
  try {
    migrate(database);
    await pairWithKey(database, secrets.keyId);
    return {
      sandboxes: new SandboxRows(database, secrets),
      snapshots: new SnapshotRows(database),
      users: new UserRows(database),
      keys: new KeyRows(database),
      idempotency: new IdempotencyRows(database, secrets),
      accessTokens: new AccessTokenRows(database),
      gitCredentials: new GitCredentialRows(database, secrets),
      audit: new AuditRows(database),
      registryCredentials: new RegistryCredentialRows(database, secrets),
      authorizations: new AuthorizationRows(database, secrets),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Binds a database to the secret key of its first opening: another key would leave it half unreadable. */
async function pairWithKey(database: Database, keyId: string): Promise<void> {
  const stored = await database.write(() => {
    database.prepare('INSERT OR IGNORE INTO installation VALUES (1, :key_id)').run({ key_id: keyId });
    return database.prepare('SELECT secret_key_id FROM installation').get()?.['secret_key_id'];
  });
  if (stored === keyId) return;
  throw new SandhavenError(
    'failed_precondition',
    'The secret key is not the one that this database was written with.',
    { hint: 'Put back the secret.key file, or the credential, that belongs to this data directory.' },
  );
}
