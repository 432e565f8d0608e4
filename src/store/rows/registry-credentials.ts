/** Credentials of registries as rows. Passwords are sealed, and opened one at a time. */
import type {
  RegistryAccount,
  RegistryCredential,
  RegistryCredentialStore,
} from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../secrets.ts';
import { type Row, type Sql, statement } from '../sql/sql.ts';

export class RegistryCredentialRows implements RegistryCredentialStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async put({ registry, username, password }: RegistryCredential, now: number): Promise<RegistryAccount> {
    const sealed = this.#secrets.seal(password, placeOf(registry));
    await this.#sql.write('registry credentials', function* () {
      const isNew = !(yield* statements.get.get({ registry }));
      const stored = Number((yield* statements.count.get())?.['count']);
      if (isNew && stored >= limits.registries.credentials) throw tooMany();
      yield* statements.put.run({ registry, username, password: sealed, updated_at: now });
    });
    return { registry, username, updatedAt: now };
  }

  async get(registry: string): Promise<RegistryCredential | null> {
    const row = await this.#sql.read(() => statements.get.get({ registry }));
    if (!row) return null;
    const password = this.#secrets.open(row['password'], placeOf(registry));
    return { registry, username: String(row['username']), password };
  }

  async list(): Promise<RegistryAccount[]> {
    return (await this.#sql.read(() => statements.list.all())).map(accountOf);
  }

  async remove(registry: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.remove.run({ registry }))) > 0;
  }
}

const statements = {
  get: statement('SELECT username, password FROM registry_credentials WHERE registry = :registry'),
  put: statement(
    `INSERT INTO registry_credentials (registry, username, updated_at, password)
       VALUES (:registry, :username, :updated_at, :password)
       ON CONFLICT (registry) DO UPDATE
       SET username = excluded.username, updated_at = excluded.updated_at, password = excluded.password`,
  ),
  list: statement('SELECT registry, username, updated_at FROM registry_credentials ORDER BY registry'),
  count: statement('SELECT count(*) AS count FROM registry_credentials'),
  remove: statement('DELETE FROM registry_credentials WHERE registry = :registry'),
};

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
