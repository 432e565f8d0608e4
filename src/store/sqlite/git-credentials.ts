/** Credentials of Git remotes, one for each repository of a sandbox. Passwords are sealed. */
import type { GitCredential, GitCredentialStore } from '../../control/ports/index.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../secrets.ts';
import type { Database } from './database.ts';

export class GitCredentialRows implements GitCredentialStore {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#secrets = secrets;
    this.#statements = prepare(database);
  }

  async put({ sandboxId, url, username, password }: GitCredential): Promise<void> {
    const sealed = this.#secrets.seal(password, placeOf(sandboxId, url));
    await this.#database.write(() => {
      if (!this.#statements.sandbox.get({ sandbox: sandboxId })) {
        throw notFound('sandbox', 'The sandbox was deleted.');
      }
      const isNew = !this.#statements.get.get({ sandbox: sandboxId, url });
      if (isNew && this.#count(sandboxId) >= limits.git.credentials) throw tooMany();
      this.#statements.put.run({ sandbox: sandboxId, url, username, password: sealed });
    });
  }

  async get(sandboxId: string, url: string): Promise<GitCredential | null> {
    const row = this.#statements.get.get({ sandbox: sandboxId, url });
    if (!row) return null;
    const password = this.#secrets.open(row['password'], placeOf(sandboxId, url));
    return { sandboxId, url, username: String(row['username']), password };
  }

  async count(sandboxId: string): Promise<number> {
    return this.#count(sandboxId);
  }

  #count(sandboxId: string): number {
    return Number(this.#statements.count.get({ sandbox: sandboxId })?.['count']);
  }
}

function prepare(database: Database) {
  return {
    sandbox: database.prepare('SELECT 1 FROM sandboxes WHERE id = :sandbox'),
    get: database.prepare(
      'SELECT username, password FROM git_credentials WHERE sandbox_id = :sandbox AND url = :url',
    ),
    put: database.prepare(
      `INSERT INTO git_credentials (sandbox_id, url, username, password)
       VALUES (:sandbox, :url, :username, :password)
       ON CONFLICT DO UPDATE SET username = excluded.username, password = excluded.password`,
    ),
    count: database.prepare('SELECT count(*) AS count FROM git_credentials WHERE sandbox_id = :sandbox'),
  };
}

function tooMany(): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The sandbox already stores the credentials of ${limits.git.credentials} remotes.`,
    { hint: 'Clone into another sandbox, or without username and password.' },
  );
}

function placeOf(sandboxId: string, url: string) {
  return { table: 'git_credentials', row: JSON.stringify([sandboxId, url]), column: 'password' };
}
