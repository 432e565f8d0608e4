/**
 * Credentials of Git remotes, one for each repository of a sandbox, and of registries, as rows. Passwords are sealed.
 */
import type {
  GitCredential,
  GitCredentialStore,
  RegistryAccount,
  RegistryCredential,
  RegistryCredentialStore,
} from '../../control/ports/index.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Row, type Sql, statement, type Work } from '../sql/sql.ts';

export class GitCredentialRows implements GitCredentialStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async put({ sandboxId, url, username, password }: GitCredential): Promise<void> {
    const sealed = this.#secrets.seal(password, placeOfRemote(sandboxId, url));
    await this.#sql.write(`Git credentials of ${sandboxId}`, function* () {
      const isNew = !(yield* gitStatements.get.get({ sandbox: sandboxId, url }));
      if (isNew && (yield* count(sandboxId)) >= limits.git.credentials) throw tooManyRemotes();
      const written = yield* gitStatements.put.run({ sandbox: sandboxId, url, username, password: sealed });
      if (written === 0) throw notFound('sandbox', 'The sandbox was deleted.');
    });
  }

  async get(sandboxId: string, url: string): Promise<GitCredential | null> {
    const row = await this.#sql.read(() => gitStatements.get.get({ sandbox: sandboxId, url }));
    if (!row) return null;
    const password = this.#secrets.open(row['password'], placeOfRemote(sandboxId, url));
    return { sandboxId, url, username: String(row['username']), password };
  }

  async count(sandboxId: string): Promise<number> {
    return this.#sql.read(() => count(sandboxId));
  }

  async remove(sandboxId: string): Promise<void> {
    await this.#sql.writeOne(() => gitStatements.remove.run({ sandbox: sandboxId }));
  }
}

const gitStatements = {
  get: statement('SELECT username, password FROM git_credentials WHERE sandbox_id = :sandbox AND url = :url'),
  put: statement(
    `INSERT INTO git_credentials (sandbox_id, url, username, password)
       SELECT id, :url, :username, :password FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id, url) DO UPDATE SET username = excluded.username, password = excluded.password`,
  ),
  remove: statement('DELETE FROM git_credentials WHERE sandbox_id = :sandbox'),
  count: statement('SELECT count(*) AS count FROM git_credentials WHERE sandbox_id = :sandbox'),
};

function* count(sandboxId: string): Work<number> {
  return Number((yield* gitStatements.count.get({ sandbox: sandboxId }))?.['count']);
}

function tooManyRemotes(): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The sandbox already stores the credentials of ${limits.git.credentials} remotes.`,
    { hint: 'Clone into another sandbox, or without username and password.' },
  );
}

function placeOfRemote(sandboxId: string, url: string) {
  return { table: 'git_credentials', row: JSON.stringify([sandboxId, url]), column: 'password' };
}

/** Credentials of registries as rows. Passwords are sealed, and opened one at a time. */
export class RegistryCredentialRows implements RegistryCredentialStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async put({ registry, username, password }: RegistryCredential, now: number): Promise<RegistryAccount> {
    const sealed = this.#secrets.seal(password, placeOfRegistry(registry));
    await this.#sql.write('registry credentials', function* () {
      const isNew = !(yield* registryStatements.get.get({ registry }));
      const stored = Number((yield* registryStatements.count.get())?.['count']);
      if (isNew && stored >= limits.registries.credentials) throw tooManyRegistries();
      yield* registryStatements.put.run({ registry, username, password: sealed, updated_at: now });
    });
    return { registry, username, updatedAt: now };
  }

  async get(registry: string): Promise<RegistryCredential | null> {
    const row = await this.#sql.read(() => registryStatements.get.get({ registry }));
    if (!row) return null;
    const password = this.#secrets.open(row['password'], placeOfRegistry(registry));
    return { registry, username: String(row['username']), password };
  }

  async list(): Promise<RegistryAccount[]> {
    return (await this.#sql.read(() => registryStatements.list.all())).map(accountOf);
  }

  async remove(registry: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => registryStatements.remove.run({ registry }))) > 0;
  }
}

const registryStatements = {
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

function tooManyRegistries(): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The service already stores the credentials of ${limits.registries.credentials} registries.`,
    { hint: 'Remove those of a registry that is no longer in use.' },
  );
}

function placeOfRegistry(registry: string) {
  return { table: 'registry_credentials', row: registry, column: 'password' };
}
