/** Credentials of Git remotes, one for each repository of a sandbox. Passwords are sealed. */
import type { GitCredential, GitCredentialStore } from '../../control/ports/index.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../secrets.ts';
import { type Sql, statement, type Work } from '../sql/sql.ts';

export class GitCredentialRows implements GitCredentialStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async put({ sandboxId, url, username, password }: GitCredential): Promise<void> {
    const sealed = this.#secrets.seal(password, placeOf(sandboxId, url));
    await this.#sql.write(`Git credentials of ${sandboxId}`, function* () {
      const isNew = !(yield* statements.get.get({ sandbox: sandboxId, url }));
      if (isNew && (yield* count(sandboxId)) >= limits.git.credentials) throw tooMany();
      const written = yield* statements.put.run({ sandbox: sandboxId, url, username, password: sealed });
      if (written === 0) throw notFound('sandbox', 'The sandbox was deleted.');
    });
  }

  async get(sandboxId: string, url: string): Promise<GitCredential | null> {
    const row = await this.#sql.read(() => statements.get.get({ sandbox: sandboxId, url }));
    if (!row) return null;
    const password = this.#secrets.open(row['password'], placeOf(sandboxId, url));
    return { sandboxId, url, username: String(row['username']), password };
  }

  async count(sandboxId: string): Promise<number> {
    return this.#sql.read(() => count(sandboxId));
  }

  async remove(sandboxId: string): Promise<void> {
    await this.#sql.writeOne(() => statements.remove.run({ sandbox: sandboxId }));
  }
}

const statements = {
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
  return Number((yield* statements.count.get({ sandbox: sandboxId }))?.['count']);
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
