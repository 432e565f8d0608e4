/** Credentials of registries as rows. Passwords are sealed, and opened one at a time. */
import type {
  RegistryAccount,
  RegistryCredential,
  RegistryCredentialStore,
} from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../secrets.ts';
import type { Database, Row } from './database.ts';

export class RegistryCredentialRows implements RegistryCredentialStore {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#secrets = secrets;
    this.#statements = prepare(database);
  }

  async put({ registry, username, password }: RegistryCredential, now: number): Promise<RegistryAccount> {
    const sealed = this.#secrets.seal(password, placeOf(registry));
    await this.#database.write(() => {
      const isNew = !this.#statements.get.get({ registry });
      if (isNew && Number(this.#statements.count.get()?.['count']) >= limits.registries.credentials) {
        throw tooMany();
      }
      this.#statements.put.run({ registry, username, password: sealed, updated_at: now });
    });
    return { registry, username, updatedAt: now };
  }

  async get(registry: string): Promise<RegistryCredential | null> {
    const row = this.#statements.get.get({ registry });
    if (!row) return null;
    const password = this.#secrets.open(row['password'], placeOf(registry));
    return { registry, username: String(row['username']), password };
  }

  async list(): Promise<RegistryAccount[]> {
    return this.#statements.list.all().map(accountOf);
  }

  async remove(registry: string): Promise<boolean> {
    return this.#database.write(() => Number(this.#statements.remove.run({ registry }).changes) > 0);
  }
}

function prepare(database: Database) {
  return {
    get: database.prepare('SELECT username, password FROM registry_credentials WHERE registry = :registry'),
    put: database.prepare(
      `INSERT INTO registry_credentials (registry, username, updated_at, password)
       VALUES (:registry, :username, :updated_at, :password)
       ON CONFLICT DO UPDATE
       SET username = excluded.username, updated_at = excluded.updated_at, password = excluded.password`,
    ),
    list: database.prepare(
      'SELECT registry, username, updated_at FROM registry_credentials ORDER BY registry',
    ),
    count: database.prepare('SELECT count(*) AS count FROM registry_credentials'),
    remove: database.prepare('DELETE FROM registry_credentials WHERE registry = :registry'),
  };
}

function accountOf(row: Row): RegistryAccount {
  return {
    registry: String(row['registry']),
    username: String(row['username']),
    updatedAt: Number(row['updated_at']),
  };
}

function tooMany(): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The service already stores the credentials of ${limits.registries.credentials} registries.`,
    { hint: 'Remove those of a registry that is no longer in use.' },
  );
}

function placeOf(registry: string) {
  return { table: 'registry_credentials', row: registry, column: 'password' };
}
